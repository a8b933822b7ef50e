package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"syscall"
	"testing"

	"github.com/firncache/firn/internal/evicted"
	"github.com/firncache/firn/internal/fleet"
	"github.com/firncache/firn/internal/local"
	"github.com/firncache/firn/internal/shared/sharedtest"
	"github.com/firncache/firn/internal/ssd"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// process is a store with its own view of the shared server.
type process struct {
	Store
	t    *testing.T
	tier *sharedtest.Tier
}

func (p *process) setKey(key, value []byte, deadline int64) error {
	return p.Set(p.Hash(key), key, value, deadline)
}

// begin begins a process, with an SSD or without.
func begin(t *testing.T, server *sharedtest.Server, onSSD bool, change ...func(*Config)) *process {
	t.Helper()
	p := &process{t: t, tier: server.Tier()}
	cfg := Config{Config: local.Config{RAMBytes: 1 << 20}, Shared: p.tier}
	if onSSD {
		cfg.FS, cfg.SSD = vfstest.NewMem(), ssd.Config{Bytes: 16 << 20, Admission: ssd.AdmitAll, Log: slog.New(slog.DiscardHandler)}
	}
	for _, f := range change {
		f(&cfg)
	}
	if err := p.Open(cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

func (p *process) set(key, value string) {
	p.t.Helper()
	if err := p.setKey([]byte(key), []byte(value), 0); err != nil {
		p.t.Fatal(err)
	}
}

// get is the value of a key, or why there is none.
func (p *process) get(key string) string {
	p.t.Helper()
	v, err := p.Lookup(p.t.Context(), nil, []byte(key))
	if w, ok := p.Get(nil, []byte(key)); ok != (err == nil) || string(w) != string(v) {
		p.t.Errorf("Get of %s: %q, %v: Lookup said %q, %v", key, w, ok, v, err)
	}
	if err != nil {
		return err.Error()
	}
	return string(v)
}

// want demands a value, without a request if local.
func (p *process) want(key, value string, local bool) {
	p.t.Helper()
	before := p.tier.Calls()
	if got := p.get(key); got != value {
		p.t.Errorf("%s is %q: want %q", key, got, value)
	}
	if asked := p.tier.Calls() - before; local && asked != 0 || !local && asked == 0 {
		p.t.Errorf("%s took %d requests: want it local %v", key, asked, local)
	}
}

// demote takes a key's copy out of RAM.
func (p *process) demote(key string) {
	p.Force().Demote(func(k []byte) bool { return string(k) == key })
}

// overTiers runs a test over RAM alone, and over RAM and SSD.
func overTiers(t *testing.T, test func(t *testing.T, onSSD bool)) {
	for _, onSSD := range []bool{false, true} {
		t.Run(fmt.Sprint("ssd=", onSSD), func(t *testing.T) {
			t.Parallel()
			test(t, onSSD)
		})
	}
}

// What one process writes the others read, and keep until it is written again.
func TestSharedValues(t *testing.T) {
	t.Parallel()
	overTiers(t, func(t *testing.T, onSSD bool) {
		a, b := two(t, onSSD)
		a.set("k", "v1")
		a.want("k", "v1", true)
		b.want("k", "v1", false)
		b.want("k", "v1", true)
		b.set("k", "v2")
		b.want("k", "v2", true)
		a.want("k", "v2", false)
		a.want("k", "v2", true)
		if err := a.Delete([]byte("k")); err != nil {
			t.Error(err)
		}
		a.want("k", local.ErrNotFound.Error(), false)
		b.want("k", local.ErrNotFound.Error(), false)
	})
}

// A copy that became suspect is checked, and its value is not sent again: from the SSD too.
func TestCheckedCopies(t *testing.T) {
	t.Parallel()
	overTiers(t, func(t *testing.T, onSSD bool) {
		a, b := two(t, onSSD)
		a.set("k", "v1")
		b.want("k", "v1", false)
		if onSSD {
			b.demote("k")
		}
		b.tier.Disconnect()
		b.want("k", "v1", false)
		b.want("k", "v1", true)
		if s := b.SharedStats(); s.Checks != 1 || s.Unchanged != 1 || s.Hits != 1 || s.Copies != 1 {
			t.Errorf("%+v", s)
		}
		a.tier.Disconnect()
		b.set("k", "v2")
		a.want("k", "v2", false)
	})
}

// The checks of a batch count as those of its keys.
func TestChecksOfBatches(t *testing.T) {
	t.Parallel()
	p := begin(t, sharedtest.NewServer(), false)
	p.set("k", "v")
	p.set("l", "v")
	p.tier.Disconnect()
	if err := p.LookupMulti(t.Context(), new(fleet.Batch), [][]byte{[]byte("k"), []byte("l"), []byte("absent")}); err != nil {
		t.Fatal(err)
	}
	if n := p.SharedStats(); n.Checks != 2 || n.Unchanged != 2 {
		t.Errorf("%d checks, %d unchanged: want 2", n.Checks, n.Unchanged)
	}
}

// After an interruption each copy is checked once, however many there are.
func TestCopiesAreCheckedOnce(t *testing.T) {
	t.Parallel()
	const keys = 8 << 10 // beyond the notes that a store without an SSD has room for
	p := begin(t, sharedtest.NewServer(), false, func(c *Config) { c.RAMBytes = 8 << 20 })
	for i := range keys {
		p.set(fmt.Sprint("k", i), "v")
	}
	p.tier.Disconnect()
	for _, checks := range []int{keys, 0} {
		before := p.tier.Calls()
		for i := range keys {
			if v, err := p.Lookup(t.Context(), nil, fmt.Append(nil, "k", i)); string(v) != "v" {
				t.Fatalf("k%d: %q, %v", i, v, err)
			}
		}
		if n := p.tier.Calls() - before; n != checks {
			t.Errorf("a pass asked %d times: want %d", n, checks)
		}
	}
}

// A copy that gets a new stamp, of which a push arrives at the same time, is dropped by that.
func TestPushWinsOverNewStamp(t *testing.T) {
	t.Parallel()
	overTiers(t, func(t *testing.T, onSSD bool) {
		a, b := two(t, onSSD)
		a.set("k", "v1")
		b.want("k", "v1", false)
		b.tier.Disconnect()
		b.tier.OnReply = func(call, key string) {
			b.tier.OnReply = nil
			a.set("k", "v2") // and the push is delivered
		}
		if v, err := b.Lookup(t.Context(), nil, []byte("k")); string(v) != "v1" {
			t.Errorf("%q, %v: want what was found before the push", v, err)
		}
		b.want("k", "v2", false)
	})
}

// A process that does not hear of the server uses its copies as the policy says.
func TestDegraded(t *testing.T) {
	t.Parallel()
	p := begin(t, sharedtest.NewServer(), false)
	p.set("k", "v")
	p.tier.SetOnline(false)
	p.want("k", "v", true)
	if err := p.setKey([]byte("l"), []byte("w"), 0); !errors.Is(err, local.ErrSharedUnavailable) {
		t.Errorf("Set while the server is away: %v", err)
	}
	p.tier.Lapse()
	p.want("k", local.ErrNotFound.Error(), false)
	p.tier.Resume()
	p.want("k", "v", true)
}

// Many keys are read and written as one each.
func TestSharedBatches(t *testing.T) {
	t.Parallel()
	overTiers(t, func(t *testing.T, onSSD bool) {
		a, b := two(t, onSSD)
		var keys, values [][]byte
		for i := range 300 {
			keys, values = append(keys, fmt.Append(nil, "k", i)), append(values, fmt.Append(nil, "v", i))
		}
		if err := a.SetMulti(keys, values, 0, nil); err != nil {
			t.Fatal(err)
		}
		for round := range 4 {
			for _, p := range []*process{a, b} {
				before := p.tier.Calls()
				p.wantMulti(keys, values)
				if asked := p.tier.Calls() - before; (asked < len(keys)/2) != (round%2 == 1 || round == 0 && p == a) { // some notes may be lost
					t.Errorf("round %d: %d requests", round, asked)
				}
			}
			if round == 1 {
				a.tier.Disconnect()
				b.tier.Disconnect()
			}
		}
		if err := b.DeleteMulti(keys[:200]); err != nil {
			t.Fatal(err)
		}
		clear(values[:200])
		a.wantMulti(keys, values)
		b.wantMulti(keys, values)
	})
}

func (p *process) wantMulti(keys, values [][]byte) {
	p.t.Helper()
	var b fleet.Batch
	if err := p.LookupMulti(context.Background(), &b, keys); err != nil {
		p.t.Error(err)
	}
	for i, key := range keys {
		if v, ok := b.Value(i); ok != (values[i] != nil) || string(v) != string(values[i]) {
			p.t.Fatalf("%s is %q, %v: want %q", key, v, ok, values[i])
		}
	}
}

// A change by what a key holds is refused if another process has changed it meanwhile.
func TestSharedAttempts(t *testing.T) {
	t.Parallel()
	overTiers(t, func(t *testing.T, onSSD bool) {
		a, b := two(t, onSSD)
		a.set("k", "v1")
		b.want("k", "v1", false)
		b.tier.HoldPushes()
		a.set("k", "v2")
		if got, err := b.tryAppend("k", "+"); got != "v1" || err != local.ErrChanged {
			t.Errorf("saw %q, %v: want the copy, and ErrChanged", got, err)
		}
		if got, err := b.tryAppend("k", "+"); got != "v2" || err != nil {
			t.Errorf("saw %q, %v: want what is there", got, err)
		}
		b.tier.DeliverPushes()
		a.want("k", "v2+", false)
	})
}

// tryAppend is one try to append to a value.
func (p *process) tryAppend(key, tail string) (seen string, err error) {
	var a fleet.Attempt
	p.Begin(&a, []byte(key))
	defer p.End(&a)
	v, deadline, _, err := p.Look(p.t.Context(), &a, nil)
	if err != nil {
		return "", err
	}
	return string(v), p.Update(&a, append(v, tail...), deadline)
}

// OnEvict is told values as they were stored, and of pushes as of nothing else.
func TestToldOfPushes(t *testing.T) {
	t.Parallel()
	told := make(chan string, 1)
	server := sharedtest.NewServer()
	a := begin(t, server, false, func(cfg *Config) {
		cfg.Evicted = func(key, value []byte, cause evicted.Cause) { told <- fmt.Sprintf("%s %s %d", key, value, cause) }
	})
	b := begin(t, server, false)
	a.set("k", "v1")
	b.set("k", "v2")
	if got, want := <-told, fmt.Sprint("k v1 ", evicted.Invalidated); got != want {
		t.Errorf("told of %s: want %s", got, want)
	}
}

// An OnEvict that blocks holds up neither pushes nor Close, which ends the telling.
func TestPushesWaitForNobody(t *testing.T) {
	t.Parallel()
	server, told, release := sharedtest.NewServer(), make(chan string), make(chan struct{})
	a := begin(t, server, false, func(cfg *Config) {
		cfg.Evicted = func(key, _ []byte, cause evicted.Cause) {
			if cause == evicted.Invalidated {
				told <- string(key)
				<-release
			}
		}
	})
	b := begin(t, server, false)
	for _, key := range []string{"k", "l", "m"} {
		a.set(key, "v1")
		b.set(key, "v2")
	}
	if key := <-told; key != "k" {
		t.Errorf("told of %s first", key)
	}
	a.want("m", "v2", false)
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	close(release)
	b.set("m", "v3")
	select {
	case key := <-told:
		t.Errorf("told of %s after Close", key)
	default:
	}
}

// Of a disk that cannot be read a lookup waits once for each key, and a batch once for all: what
// has expired is not looked for there as well.
func TestSharedAsksBrokenDiskOnce(t *testing.T) {
	t.Parallel()
	keys, values := [][]byte{{1}, {2}, {3}, {4}}, [][]byte{{1}, {2}, {3}, {4}}
	lookups := map[int]func(a *process){ // by how many reads they take
		1: func(a *process) {
			if v, err := a.Lookup(t.Context(), nil, keys[0]); string(v) != string(values[0]) {
				t.Error(v, err)
			}
		},
		len(keys): func(a *process) { a.wantMulti(keys, values) },
	}
	for want, lookup := range lookups {
		disk := vfstest.NewFaulty(vfstest.NewMem())
		a := begin(t, sharedtest.NewServer(), true, func(cfg *Config) { cfg.FS, cfg.Grace = disk, 1000 })
		if err := a.SetMulti(keys, values, 0, nil); err != nil {
			t.Fatal(err)
		}
		a.Force().Demote(func([]byte) bool { return true })
		broken := disk.Inject(vfstest.Rule{On: vfstest.OpRead, Name: "log", Err: syscall.EIO})
		if lookup(a); broken.Hits() != want {
			t.Errorf("%d reads: want %d", broken.Hits(), want)
		}
	}
}
