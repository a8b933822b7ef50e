package ssd

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/tests/harness"
	"github.com/firncache/firn/internal/vfs"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// diskFaults are what a disk may do, at every operation of one kind or of all.
func diskFaults() map[string]vfstest.Rule {
	rules := map[string]vfstest.Rule{}
	for kind := vfstest.OpOpen; kind <= vfstest.OpAny; kind <<= 1 {
		rules["stuck "+kind.String()] = vfstest.Rule{On: kind, Block: true}
	}
	rules["stuck"] = vfstest.Rule{On: vfstest.OpAny, Block: true}
	rules["failing"] = vfstest.Rule{On: vfstest.OpAny &^ vfstest.OpClose, Err: syscall.EIO}
	return rules
}

// overSSD are writes of keys of which the disk holds an older value.
type overSSD struct {
	c      *firn.Cache
	typed  *firn.Typed[int, string]
	number int // of the next key that lies on the disk
	want   map[string]string
}

// next is a key that lies on the disk and has not been written since, and what it is
// going to have.
func (w *overSSD) next(value string) (key []byte) {
	key, _ = harness.Numbered(w.number)
	w.number++
	w.want[string(key)] = value
	return key
}

// each calls f with every kind of write.
func (w *overSSD) each(t *testing.T, f func(name string, write func() error)) {
	ctx := t.Context()
	nothing := func(ctx context.Context, _ []byte) ([]byte, error) { return []byte{}, firn.SetLoadTTL(ctx, 0) }
	f("Set", func() error { return w.c.Set(w.next("new"), []byte("new")) })
	f("SetWithTTL", func() error { return w.c.SetWithTTL(w.next("new"), []byte("new"), time.Hour) })
	f("Delete", func() error { return w.c.Delete(w.next("")) })
	f("SetMulti", func() error {
		keys := [][]byte{w.next("new"), w.next("new")}
		return w.c.SetMulti(ctx, keys, [][]byte{[]byte("new"), []byte("new")})
	})
	f("Refresh", func() error { return harness.Err(w.c.Refresh(ctx, nil, w.next("loaded"), harness.Value("loaded"))) })
	f("Refresh of nothing", func() error { return harness.Err(w.c.Refresh(ctx, nil, w.next(""), nothing)) })
	f("GetOrLoad", func() error {
		_, err := w.c.GetOrLoad(ctx, nil, []byte("absent"), harness.Value("loaded"))
		w.want["absent"] = "loaded"
		return err
	})
	f("Typed.Clear", func() error { return w.typed.Clear(ctx) })
	f("Typed.Set", func() error { return w.typed.Set(2, "new") })
}

// A Set, a Delete or a Clear of what lies on the disk asks the disk for nothing: it
// takes no time while that is stuck, and is no error while that fails. Nothing older
// is found from then on, nor after the process has been killed.
func TestWritesNeedNoDisk(t *testing.T) {
	for name, rule := range diskFaults() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { writesNeedNoDisk(t, rule) })
		})
	}
}

func writesNeedNoDisk(t *testing.T, rule vfstest.Rule) {
	mem := vfstest.NewMem()
	f := vfstest.NewFaulty(mem)
	c := harness.OpenOn(t, f)
	w := &overSSD{c: c, typed: harness.NewTyped(t, c, "n", firn.TypedOptions[int, string]{}), want: map[string]string{}}
	if err := w.typed.Set(1, "old"); err != nil {
		t.Fatal(err)
	}
	const n = 100
	harness.Demote(t, c) // that many at least, and the record of the namespace
	synctest.Wait()

	in := f.Inject(rule)
	watchdog := time.AfterFunc(time.Minute, in.Remove) // of the bubble
	w.each(t, func(name string, write func() error) {
		began := time.Now()
		if err := write(); err != nil || time.Since(began) != 0 {
			t.Errorf("%s: %v, after %v: want it at once", name, err, time.Since(began))
		}
	})
	inUse := mem.CrashClone(nil, vfstest.Kill)
	for key, want := range w.want {
		if v, _ := c.Get(nil, []byte(key)); string(v) != want {
			t.Errorf("%s: %.20q, want %q", key, v, want)
		}
	}
	if v, ok := w.typed.Get(1); ok {
		t.Errorf("after Typed.Clear there is %q", v)
	}
	began := time.Now()
	if err := c.Clear(t.Context()); err != nil || time.Since(began) != 0 {
		t.Errorf("Clear: %v, after %v: want it at once", err, time.Since(began))
	}
	if !watchdog.Stop() {
		return
	}
	cleared := mem.CrashClone(nil, vfstest.Kill)
	w.checkKilled(t, inUse, n, rule.Block)
	c2 := harness.OpenOn(t, cleared)
	for key, v := range c2.All() {
		t.Errorf("after Clear and a kill there is %s: %.20q", key, v)
	}
	if err := c2.Close(); err != nil {
		t.Error(err)
	}
	in.Remove()
	_ = c.Close() // it may be switched off
}

// checkKilled looks into the files and the memory of a process that was killed after
// it had written. With warm, what it had not written is there.
func (w *overSSD) checkKilled(t *testing.T, fs vfs.FS, n int, warm bool) {
	t.Helper()
	c := harness.OpenOn(t, fs)
	for key, want := range w.want {
		if v, err := c.Lookup(t.Context(), nil, []byte(key)); err == nil && string(v) != want {
			t.Errorf("after a kill, %s is %.20q: want %q, or nothing", key, v, want)
		} else if err != nil && !errors.Is(err, firn.ErrNotFound) {
			t.Error(err)
		}
	}
	typed := harness.NewTyped(t, c, "n", firn.TypedOptions[int, string]{})
	if v, ok := typed.Get(1); ok {
		t.Errorf("after Typed.Clear and a kill there is %q", v)
	}
	for i := w.number; warm && i < n; i++ {
		key, value := harness.Numbered(i)
		if v, ok := c.Get(nil, key); !ok || !bytes.Equal(v, value) {
			t.Errorf("after a kill, %s is %.20q, %v", key, v, ok)
		}
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// Who reads what lies on a disk that is stuck waits no longer than his context, and
// holds no write of the key up.
func TestReadsOfStuckDisk(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := vfstest.NewFaulty(vfstest.NewMem())
		c := harness.OpenOn(t, f)
		harness.Demote(t, c)
		synctest.Wait()
		in := f.Inject(vfstest.Rule{On: vfstest.OpRead, Name: "log", Block: true})
		const n, written = 10, 5
		began := time.Now()
		var readers sync.WaitGroup
		for i := range n {
			readers.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				key, _ := harness.Numbered(i)
				v, err := c.Lookup(ctx, nil, key)
				switch took := time.Since(began); {
				case took != time.Second:
					t.Errorf("key %d: after %v: want a second", i, took)
				case i < written && string(v) != "new", i >= written && !errors.Is(err, context.DeadlineExceeded):
					t.Errorf("key %d: %.20q, %v", i, v, err)
				}
			})
		}
		synctest.Wait()
		in.AwaitBlocked(1)
		for i := range written {
			key, _ := harness.Numbered(i)
			harness.Set(t, c, key, []byte("new"))
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("writes of the keys that are being read took %v", took)
		}
		readers.Wait()
		in.Remove()
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}
