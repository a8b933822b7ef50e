package load

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn/internal/evicted"
	"github.com/firncache/firn/internal/fleet"
	"github.com/firncache/firn/internal/local"
	"github.com/firncache/firn/internal/shared/sharedtest"
	"github.com/firncache/firn/internal/store"
)

// getOrLoadMulti is Cache.GetOrLoadMulti: the values, in words.
func (p *process) getOrLoadMulti(keys string, load MultiFunc) string {
	var b fleet.Batch
	var list [][]byte
	for key := range strings.FieldsSeq(keys) {
		list = append(list, []byte(key))
	}
	ctx := p.store.LookupMultiForLoad(p.t.Context(), &b, list)
	err := p.loads.LoadMulti(ctx, &b.Values, new([]Outcome), list, load)
	var words []string
	for i := range list {
		v, ok := b.Values.Value(i)
		if !ok {
			v = []byte("-")
		}
		words = append(words, string(v))
	}
	if err != nil {
		words = append(words, err.Error())
	}
	return strings.Join(words, " ")
}

func (p *process) beginMulti(keys string, load MultiFunc) (come chan string) {
	come = make(chan string, 1)
	go func() { come <- p.getOrLoadMulti(keys, load) }()
	synctest.Wait()
	return come
}

// multiLoader answers each key with its name and a process's, and notes the keys of each call.
func multiLoader(by string, calls *[]string, slow time.Duration) MultiFunc {
	return func(_ context.Context, keys [][]byte) (values [][]byte, err error) {
		var all []string
		for _, key := range keys {
			all = append(all, string(key))
			values = append(values, fmt.Appendf(nil, "%s-%s", key, by))
		}
		*calls = append(*calls, strings.Join(all, " "))
		time.Sleep(slow)
		return values, nil
	}
}

func wantCalls(t *testing.T, who string, calls []string, want string) {
	t.Helper()
	if got := strings.Join(calls, ", "); got != want {
		t.Errorf("%s loads %q, want %q", who, got, want)
	}
}

// A bulk load loads what nobody loads, at once, and waits meanwhile for what another process
// does: each key is loaded once, and all have all.
func TestBulkLoadsOfProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := sharedtest.NewServer()
		a, b := beginProcess(t, server, Options{}), beginProcess(t, server, Options{})
		var byA, byB, byC []string
		a.set("0", "0-set")
		first := a.beginMulti("1 2 3", multiLoader("a", &byA, 2*time.Second))
		second := b.beginMulti("0 2 3 4 5", multiLoader("b", &byB, time.Second))
		wantCalls(t, "b", byB, "4 5") // at once
		if got := <-first; got != "1-a 2-a 3-a" {
			t.Error(got)
		}
		answer(t, second, "0-set 2-a 3-a 4-b 5-b", 0)
		wantCalls(t, "a", byA, "1 2 3")
		wantCalls(t, "b", byB, "4 5")
		c := beginProcess(t, server, Options{})
		if got := c.getOrLoadMulti("5 4 3 2 1 0", multiLoader("c", &byC, 0)); got != "5-b 4-b 3-a 2-a 1-a 0-set" {
			t.Error(got)
		}
		wantCalls(t, "c", byC, "")
		for _, key := range []string{"1", "2", "3", "4", "5"} {
			c.local(key, map[bool]string{true: key + "-a", false: key + "-b"}[key < "4"])
		}
	})
}

// What the other process does not store in time is loaded here, in one call.
func TestBulkLoadTakesOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := sharedtest.NewServer()
		server.AwaitTime = time.Minute
		a, b := beginProcess(t, server, Options{HardTimeout: 3 * time.Second}), beginProcess(t, server, Options{})
		var byA, byB []string
		first := a.beginMulti("1 2 3", multiLoader("a", &byA, time.Minute))
		second := b.beginMulti("1 2 3 4", multiLoader("b", &byB, time.Second))
		<-first
		answer(t, second, "1-b 2-b 3-b 4-b", time.Second)
		wantCalls(t, "b", byB, "4, 1 2 3")
		onServer(t, server, "2", "2-b")
		time.Sleep(2 * time.Minute) // until a's loader has returned
		onServer(t, server, "2", "2-b")
	})
}

// A key of a bulk load that is written elsewhere meanwhile is stored nowhere, the others are.
func TestWriteElsewhereWinsOverBulkLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := sharedtest.NewServer()
		a, b := beginProcess(t, server, Options{}), beginProcess(t, server, Options{})
		a.tier.HoldPushes()
		var byA []string
		first := a.beginMulti("1 2 3", multiLoader("a", &byA, time.Second))
		b.set("1", "set")
		b.set("2", "set")
		b.remove("2")
		answer(t, first, "1-a 2-a 3-a", time.Second)
		onServer(t, server, "1", "set")
		onServer(t, server, "2", none)
		onServer(t, server, "3", "3-a")
		a.local("1", none)
		a.local("2", none)
		a.local("3", "3-a")
	})
}

// Callers that leave, one for the split part of a bulk load and one for the rest, cancel what
// nobody waits for, and nothing else.
func TestLeaveSplitBulkLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := sharedtest.NewServer()
		a, b := beginProcess(t, server, Options{HardTimeout: time.Hour}), beginProcess(t, server, Options{CancelUnwanted: true})
		var byA, byB []string
		first := a.beginMulti("1", multiLoader("a", &byA, 5*time.Second))
		ctx, leave := context.WithTimeout(t.Context(), time.Second)
		defer leave()
		told := make(chan error, 1)
		var found local.Values
		found.Reset(2)
		go func() {
			_ = b.loads.LoadMissing(ctx, &found, new([]Outcome), [][]byte{[]byte("1"), []byte("2")}, func(ctx context.Context, keys [][]byte) ([][]byte, error) {
				<-ctx.Done()
				told <- ctx.Err()
				return nil, ctx.Err()
			})
		}()
		synctest.Wait()
		second := b.beginMulti("1", multiLoader("b", &byB, 0)) // joins the part that waits
		if err := <-told; err != context.Canceled {
			t.Error(err)
		}
		answer(t, second, "1-a", 4*time.Second)
		<-first
		synctest.Wait()
		if n := b.loads.Stats(); n.Active != 0 || n.Loads != 1 {
			t.Errorf("%d loads under way, %d in all, want 0 and 1", n.Active, n.Loads)
		}
	})
}

// A bulk load waits for a shared tier that does not answer once, as one of a key does, and
// Close ends it.
func TestBulkLoadWithSilentServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := sharedtest.NewServer()
		a := beginProcess(t, server, Options{})
		var byA []string
		a.tier.SetSilent(true)
		come := a.beginMulti("1", multiLoader("a", &byA, 0))
		answer(t, come, "1-a", time.Second)
		come = a.beginMulti("2", multiLoader("a", &byA, time.Hour))
		time.Sleep(2 * time.Second)
		a.close()
		answer(t, come, "- "+local.ErrClosed.Error(), 0)
		time.Sleep(time.Hour)
	})
}

// OnEvict is told of copies that a bulk load drops when the callers have their values: it may
// ask for another key of the load.
func TestBulkLoadTellsLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := sharedtest.NewServer()
		var a, b *process
		told := 0
		a = beginProcess(t, server, Options{}, func(tier *sharedtest.Tier, cfg *store.Config) {
			cfg.Evicted = func([]byte, []byte, evicted.Cause) {
				told++
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				if got := say(a.getOrLoad(ctx, "2", a.loader("2-late", nil, 0))); got != "2-a" {
					t.Errorf("OnEvict gets %s", got)
				}
			}
			tier.OnReply = func(call, key string) {
				switch call + key {
				case "ReadMulti1":
					b.set("1", "1-b")
				case "Lease1": // finds that
					a.set("1", "1-a")
				}
			}
		})
		a.store.Tell(evicted.CausesOf(evicted.Invalidated))
		b = beginProcess(t, server, Options{})
		var byA []string
		if got := a.getOrLoadMulti("1 2", multiLoader("a", &byA, 0)); got != "1-b 2-a" {
			t.Error(got)
		}
		synctest.Wait()
		if told != 1 {
			t.Errorf("OnEvict was told %d times", told)
		}
	})
}

// Nor is it told of what a load finds gone before the load has ended, which it may ask for.
func TestLoadTellsLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := sharedtest.NewServer()
		var a *process
		told := 0
		a = beginProcess(t, server, Options{}, func(_ *sharedtest.Tier, cfg *store.Config) {
			cfg.Evicted = func([]byte, []byte, evicted.Cause) {
				told++
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				if got := say(a.getOrLoad(ctx, "k", a.loader("late", nil, 0))); got != "new" {
					t.Errorf("OnEvict gets %s", got)
				}
			}
		})
		a.store.Tell(evicted.CausesOf(evicted.Invalidated))
		a.set("k", "old")
		a.tier.HoldPushes()
		server.Remove("k")
		a.tier.Disconnect()
		a.tier.DeliverPushes()
		if got := say(a.getOrLoad(t.Context(), "k", a.loader("new", nil, 0))); got != "new" {
			t.Error(got)
		}
		synctest.Wait()
		if told != 1 {
			t.Errorf("OnEvict was told %d times", told)
		}
	})
}
