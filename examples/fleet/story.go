package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/firncache/firn/stats"
)

// fleet is the processes, and what is told of them.
type fleet struct {
	out       io.Writer
	list      *priceList
	processes []*process
}

func (f *fleet) say(format string, args ...any) { fmt.Fprintf(f.out, format+"\n", args...) }

// get asks a process for a price.
func (p *process) get(ctx context.Context, thing string) (a Answer, err error) {
	text, err := ask(ctx, http.MethodGet, p.url+"/prices/"+thing)
	if err == nil {
		err = json.Unmarshal([]byte(text), &a)
	}
	return a, err
}

// put has a process change a price.
func (p *process) put(ctx context.Context, thing string, cents int) error {
	_, err := ask(ctx, http.MethodPut, p.url+"/prices/"+thing+"?cents="+strconv.Itoa(cents))
	return err
}

// stats are a process's figures of the shared tier.
func (p *process) stats(ctx context.Context) (s stats.Shared, err error) {
	text, err := ask(ctx, http.MethodGet, p.url+"/stats")
	if err == nil {
		err = json.Unmarshal([]byte(text), &s)
	}
	return s, err
}

// tell has it all happen, one part after the other.
func (f *fleet) tell(ctx context.Context) error {
	for _, part := range []func(context.Context) error{f.oneLoad, f.localAnswers, f.changes, f.cut, f.healed} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	return nil
}

// oneLoad has all processes asked for the same price at the same time.
func (f *fleet) oneLoad(ctx context.Context) error {
	f.say("\n1. Loads")
	if err := f.setList(ctx, "tea", 300); err != nil {
		return err
	}
	answers, errs := make([]Answer, len(f.processes)), make([]error, len(f.processes))
	var all sync.WaitGroup
	for i, p := range f.processes {
		all.Go(func() { answers[i], errs[i] = p.get(ctx, "tea") })
	}
	all.Wait()
	for i, p := range f.processes {
		if errs[i] != nil || answers[i].Cents != 300 {
			return fmt.Errorf("%s answers %v, %v: want 300", p.name, answers[i], errs[i])
		}
	}
	f.say("   all three are asked for tea at once: 300 cents; the price list %d×", f.list.timesAsked())
	return nil
}

// setList changes a price behind the service's back.
func (f *fleet) setList(ctx context.Context, thing string, cents int) error {
	_, err := ask(ctx, http.MethodPut, f.list.server.URL+"/"+thing+"?cents="+strconv.Itoa(cents))
	return err
}

// localAnswers has one process asked often.
func (f *fleet) localAnswers(ctx context.Context) error {
	const times = 1000
	f.say("\n2. Local answers")
	p := f.processes[1]
	if _, err := p.get(ctx, "tea"); err != nil {
		return err
	}
	before, err := p.stats(ctx)
	if err != nil {
		return err
	}
	from := map[string]int{}
	for range times {
		a, err := p.get(ctx, "tea")
		if err != nil {
			return err
		}
		from[a.From]++
	}
	after, err := p.stats(ctx)
	f.say("   B is asked %d times: %v, %d requests to the server", times, from, after.Reads-before.Reads)
	return err
}

// changes has A change a price again and again, and waits until B and C say so.
func (f *fleet) changes(ctx context.Context) error {
	const times = 50
	f.say("\n3. Changes")
	var took []time.Duration
	for i := range times {
		if err := f.processes[0].put(ctx, "tea", 310+i); err != nil {
			return err
		}
		begin := time.Now()
		for _, p := range f.processes[1:] {
			if err := p.waitFor(ctx, "tea", 310+i); err != nil {
				return err
			}
		}
		took = append(took, time.Since(begin))
	}
	slices.Sort(took)
	f.say("   A changes the price %d times; B and C both answer the new one", times)
	f.say("   after %v in the middle, %v at most",
		took[times/2].Round(10*time.Microsecond), took[times-1].Round(10*time.Microsecond))
	return nil
}

// waitFor asks until the price is this.
func (p *process) waitFor(ctx context.Context, thing string, cents int) error {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		a, err := p.get(ctx, thing)
		if err != nil || a.Cents == cents {
			return err
		}
	}
	return fmt.Errorf("%s does not answer %d cents for a minute", p.name, cents)
}
