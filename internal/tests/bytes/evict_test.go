package bytes

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/cachetest"
	"github.com/firncache/firn/internal/invariants"
	"github.com/firncache/firn/internal/tests/harness"
)

// left counts the events of an OnEvict.
type left struct {
	mu     sync.Mutex
	causes map[string]int // by "key=value cause"
}

func (l *left) onEvict(key, value []byte, cause firn.Cause) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.causes == nil {
		l.causes = map[string]int{}
	}
	l.causes[fmt.Sprintf("%s=%s %v", key, value, cause)]++
}

func (l *left) take() map[string]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.causes
	l.causes = nil
	return m
}

func (l *left) want(t *testing.T, what string, want ...string) {
	t.Helper()
	got := l.take()
	if len(got) != len(want) {
		t.Errorf("%s: events %v, want %v", what, got, want)
	}
	for _, w := range want {
		if got[w] != 1 {
			t.Errorf("%s: events %v, want %v", what, got, want)
		}
	}
}

// Every cause, once for each entry that left.
func TestOnEvictCauses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // where nothing is swept but by the test
		var l left
		clock := &cachetest.Clock{}
		c := harness.Open(t, firn.Options{RAMBytes: 1 << 20, Clock: clock.Now, OnEvict: l.onEvict})
		harness.Set(t, c, []byte("k"), []byte("v1"))
		l.want(t, "insert")
		harness.Set(t, c, []byte("k"), []byte("v2"))
		l.want(t, "overwrite in place", "k=v1 replaced")
		harness.Set(t, c, []byte("k"), []byte("longer"))
		l.want(t, "overwrite", "k=v2 replaced")
		if err := c.Delete([]byte("absent")); err != nil {
			t.Fatal(err)
		}
		l.want(t, "delete of an absent key")
		if err := c.Delete([]byte("k")); err != nil {
			t.Fatal(err)
		}
		l.want(t, "delete", "k=longer deleted")
		for _, k := range []string{"a", "b", "c"} {
			if err := c.SetWithTTL([]byte(k), []byte(k), time.Second); err != nil {
				t.Fatal(err)
			}
		}
		harness.Set(t, c, []byte("d"), []byte("d"))
		clock.Advance(3 * time.Second)
		harness.Set(t, c, []byte("a"), []byte("A"))
		l.want(t, "overwrite after expiry", "a=a expired")
		harness.Sweep(c)
		l.want(t, "sweep", "b=b expired", "c=c expired")
		if err := c.Clear(t.Context()); err != nil {
			t.Fatal(err)
		}
		l.want(t, "clear", "a=A deleted", "d=d deleted")
		harness.Set(t, c, []byte("k"), []byte("v"))
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		l.want(t, "close")
	})
}

// Of what was stored, each entry is there or was reported, with its own value.
func TestOnEvictMissesNothing(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	seen := map[string]int{}
	note := func(key, value []byte) {
		mu.Lock()
		defer mu.Unlock()
		seen[string(key)]++
		if _, err := cachetest.Sequence(key, value); err != nil {
			t.Errorf("key %s: %v", key, err)
		}
	}
	c := harness.Open(t, firn.Options{RAMBytes: 1 << 20, OnEvict: func(key, value []byte, cause firn.Cause) {
		note(key, value)
		if cause != firn.CauseCapacity {
			t.Errorf("key %s left for cause %v", key, cause)
		}
	}})
	const writers = 4
	each := 3000
	if invariants.Race { // where bytes move by atomic words
		each = 400
	}
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(w), 1))
			for i := range each {
				key := fmt.Appendf(nil, "%d-%d", w, i)
				if err := c.Set(key, cachetest.AppendValue(nil, key, 1, cachetest.MinValue+rng.IntN(3000))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	there := 0
	for k, v := range c.All() {
		note(k, v)
		there++
	}
	if len(seen) != writers*each || there == 0 || there == len(seen) {
		t.Errorf("%d keys are there or were reported: want %d; there are %d", len(seen), writers*each, there)
	}
	for key, n := range seen {
		if n != 1 {
			t.Errorf("key %s: %d times", key, n)
		}
	}
}

// within fails the test if f does not end. The deadline is far beyond what f
// takes, and is there to show where it hangs.
func within(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatalf("%s: hangs", what)
	}
}

// The callback may call everything.
func TestOnEvictMayUseTheCache(t *testing.T) {
	t.Parallel()
	for name, call := range map[string]func(c *firn.Cache){
		"Get":         func(c *firn.Cache) { c.Get(nil, []byte("1")) },
		"Set":         func(c *firn.Cache) { c.Set([]byte("from the callback"), []byte("v")) },
		"large Set":   func(c *firn.Cache) { c.Set([]byte("from the callback"), make([]byte, 20_000)) },
		"Delete":      func(c *firn.Cache) { c.Delete([]byte("2")) },
		"All":         func(c *firn.Cache) { c.All()(func(k, v []byte) bool { return true }) },
		"Len":         func(c *firn.Cache) { c.Len(); c.Stats() },
		"Clear":       func(c *firn.Cache) { c.Clear(t.Context()) },
		"SetRAMBytes": func(c *firn.Cache) { c.SetRAMBytes(1 << 20) },
		"Close":       func(c *firn.Cache) { c.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			var c *firn.Cache
			calls, deep, most := 0, 0, 300
			if invariants.Race {
				most = 50
			}
			c = harness.Open(t, firn.Options{RAMBytes: 1 << 20, OnEvict: func(_, _ []byte, _ firn.Cause) {
				if deep > 3 || calls >= most { // its own calls make entries leave, too
					return
				}
				calls++
				deep++
				call(c)
				deep--
			}})
			sets := 3000
			if invariants.Race { // where bytes move by atomic words
				sets = 400
			}
			within(t, name, func() {
				for i := range sets {
					c.Set(fmt.Append(nil, i%2500), make([]byte, 100+i%7*900))
				}
				c.Set([]byte("large"), make([]byte, 250_000))
				c.SetRAMBytes(600 << 10)
				c.Delete([]byte("2999"))
				c.Clear(t.Context())
			})
			if calls == 0 {
				t.Error("the callback was not called")
			}
		})
	}
}

// The callback may close the cache even from the cache's own goroutine.
func TestOnEvictMayCloseOnExpiry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		closed := make(chan error, 1)
		var c *firn.Cache
		c = harness.Open(t, firn.Options{RAMBytes: 1 << 20, Clock: time.Now, OnEvict: func(_, _ []byte, _ firn.Cause) {
			closed <- c.Close()
		}})
		if err := c.SetWithTTL([]byte("k"), []byte("v"), time.Millisecond); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-closed:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(time.Minute): // of the bubble
			t.Fatal("nothing was reported")
		}
	})
}

// A panic in the callback reaches the caller and leaves no lock held and no
// memory lost.
func TestOnEvictPanics(t *testing.T) {
	t.Parallel()
	quiet := false
	c := harness.Open(t, firn.Options{RAMBytes: 1 << 20, OnEvict: func(_, _ []byte, _ firn.Cause) {
		if !quiet {
			panic("callback")
		}
	}})
	panics := 0
	try := func(f func()) {
		defer func() {
			if recover() != nil {
				panics++
			}
		}()
		f()
	}
	within(t, "calls that panic", func() {
		for i := range 3000 {
			try(func() { c.Set(fmt.Append(nil, i%2500), make([]byte, 100+i%7*900)) })
			if i%100 == 0 {
				try(func() { c.Set([]byte("large"), make([]byte, 250_000)) })
				try(func() { c.Delete(fmt.Append(nil, i)) })
			}
		}
		try(func() { c.SetRAMBytes(600 << 10) })
		try(func() { c.Clear(t.Context()) })
	})
	if panics == 0 {
		t.Error("nothing panicked")
	}
	if err := harness.CheckInvariants(c); err != nil {
		t.Error(err)
	}
	quiet = true
	within(t, "calls afterwards", func() {
		harness.Set(t, c, []byte("k"), []byte("v"))
		if v, ok := c.Get(nil, []byte("k")); !ok || string(v) != "v" {
			t.Errorf("%q, %v", v, ok)
		}
	})
}
