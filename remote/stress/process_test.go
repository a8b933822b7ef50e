//go:build linux

package stress

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/remote"
)

// setting is one of the processes.
type setting struct {
	Process   uint8
	Addr      string
	Dir       string // of the SSD tier; "": RAM alone
	Source    string
	Staleness time.Duration
	Timeout   time.Duration
}

const settingVar = "FIRN_SHARED_PROCESS"

// command is what the parent asks for: a line of JSON.
type command struct {
	Do    string // run, stop, quiet, settle
	Seed  uint64
	Round int
	Loses bool  // the round has a fault that makes the server forget
	At    int64 // settle: not before
}

// process is a cache that its workers use.
type process struct {
	setting
	cache  *firn.Cache
	typed  *firn.Typed[uint32, []byte]
	source *source
	tell   teller
	stop   atomic.Bool
	round  int
	loses  bool
}

// teller sends records to the parent, many at a time.
type teller struct {
	mu sync.Mutex
	to *os.File
}

func (t *teller) write(b []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, err := t.to.Write(b); err != nil {
		os.Exit(4) // the parent is gone
	}
}

// runProcess does what the parent asks for until it asks for no more.
func runProcess(text string) error {
	p := &process{tell: teller{to: os.NewFile(3, "records")}}
	if err := json.Unmarshal([]byte(text), &p.setting); err != nil {
		return err
	}
	if err := p.open(); err != nil {
		return err
	}
	p.done()
	var running sync.WaitGroup
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var c command
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			return err
		}
		switch c.Do {
		case "run":
			p.run(&running, c)
		case "stop":
			p.stop.Store(true)
			running.Wait()
			p.figures()
			p.done()
		case "quiet":
			p.quiet()
			p.done()
		case "settle":
			p.settle(c.At)
			p.done()
		}
	}
	p.stop.Store(true)
	running.Wait()
	return p.cache.Close()
}

// open opens the cache: its tiers are small, so that entries move between them.
func (p *process) open() (err error) {
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	if p.source, err = openSource(p.Source); err != nil {
		return err
	}
	tier, err := remote.Open(remote.Options{Addrs: []string{p.Addr}, Namespace: "stress", Staleness: p.Staleness, Timeout: p.Timeout, Log: log})
	if err != nil {
		return err
	}
	options := firn.Options{RAMBytes: 1 << 20, Shared: tier, Log: log}
	if p.Dir != "" {
		options.SSD = firn.SSDOptions{Dir: p.Dir, Bytes: 16 << 20, SegmentBytes: 64 << 10, Admission: firn.AdmitAll}
	}
	if p.cache, err = firn.Open(options); err != nil {
		return err
	}
	p.typed, err = firn.NewTyped(p.cache, "tagged", firn.TypedOptions[uint32, []byte]{})
	return err
}

// run starts the workers of a round.
func (p *process) run(running *sync.WaitGroup, c command) {
	p.stop.Store(false)
	p.round, p.loses = c.Round, c.Loses
	for i := range workers {
		w := newWorker(p, i, c.Seed)
		running.Go(w.work)
	}
}

func (p *process) done() {
	r := record{Kind: kindDone, Process: p.Process}
	p.tell.write(r.append(nil))
}

// figures tells by which tier reads were answered, since the process began.
func (p *process) figures() {
	s := p.cache.Stats()
	var b []byte
	for i, n := range []uint64{s.Hits, s.SSD.Hits, s.Shared.Hits, s.Misses, s.Shared.CopiesRefused, s.Shared.Invalidations,
		s.Shared.Epochs, s.Shared.ChecksUnchanged, s.SSD.Demotions, s.SSD.Promotions, s.Shared.Errors} {
		r := record{Kind: kindFigure, Process: p.Process, Key: uint32(i), Value: int64(n)}
		b = r.append(b)
	}
	p.tell.write(b)
}

var figureNames = []string{"hits", "SSD hits", "shared hits", "misses", "copies refused", "invalidations",
	"epochs", "copies unchanged", "demotions", "promotions", "errors"}

// quiet returns when the server can be asked.
func (p *process) quiet() {
	for p.online() != nil { // each try takes as long as the tier's timeout
		time.Sleep(time.Millisecond)
	}
}

// settle tells what each key's value is, for reads that begin at a time, with nobody at
// work.
func (p *process) settle(at int64) {
	time.Sleep(time.Duration(at - now())) // the bound is a time: nothing is to be seen when it is over
	var b []byte
	note := func(k kind, key uint32, n, from int64) {
		r := record{Kind: k, Op: opSettle, Process: p.Process, Key: key, Value: n, From: from, To: now()}
		b = r.append(b)
	}
	const many = 200
	for first := uint32(0); first < firstTagged; first += many {
		from := now()
		server := p.findMulti(first, many)
		for i, n := range server {
			key := first + uint32(i)
			local := p.find(sure(context.Background()), key)
			if local != n { // it may have expired in between
				n = p.find(past(context.Background()), key)
				local = p.find(sure(context.Background()), key)
			}
			note(kindShared, key, n, from)
			note(kindLocal, key, local, from)
		}
	}
	p.tell.write(b)
}

// online is nil if the server can be asked, from here on.
func (p *process) online() error {
	_, err := p.cache.Lookup(past(context.Background()), nil, []byte("nobody's"))
	if errors.Is(err, firn.ErrNotFound) {
		return nil
	}
	return err
}

// past has a read pass the local tiers, and fail if the server cannot be asked.
func past(ctx context.Context) context.Context {
	return remote.With(ctx, remote.Call{SkipLocal: true, Degraded: remote.DegradedError, HasDegraded: true})
}

// sure has a read fail if the server had to be asked and cannot be.
func sure(ctx context.Context) context.Context {
	return remote.With(ctx, remote.Call{Degraded: remote.DegradedError, HasDegraded: true})
}

// findMulti is what the server has of some keys.
func (p *process) findMulti(first, n uint32) (numbers []int64) {
	var keys [][]byte
	for i := range n {
		keys = append(keys, keyOf(first+i))
	}
	var b firn.Batch
	for p.cache.GetMulti(past(context.Background()), &b, keys) != nil { // each try takes as long as the tier's timeout
		time.Sleep(time.Millisecond)
	}
	for i := range n {
		number := int64(0)
		if v, ok := b.Value(int(i)); ok {
			var err error
			if number, err = numberOf(first+i, v); err != nil {
				p.fail(err)
			}
		}
		numbers = append(numbers, number)
	}
	return numbers
}

// find is the number of a key's value; 0 without one.
func (p *process) find(ctx context.Context, i uint32) int64 {
	for {
		v, err := p.cache.Lookup(ctx, nil, keyOf(i))
		switch {
		case err == nil:
			n, err := numberOf(i, v)
			if err != nil {
				p.fail(err)
			}
			return n
		case errors.Is(err, firn.ErrNotFound):
			return 0
		case !errors.Is(err, firn.ErrSharedUnavailable) && !errors.Is(err, context.DeadlineExceeded):
			p.fail(fmt.Errorf("Lookup of key %d: %w", i, err))
		}
	}
}

// fail ends the process: the parent has the text.
func (p *process) fail(err error) {
	fmt.Fprintf(os.Stderr, "process %d: %s\n", p.Process, strings.TrimSpace(err.Error()))
	os.Exit(3)
}
