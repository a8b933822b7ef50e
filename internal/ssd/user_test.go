package ssd

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/firncache/firn/internal/record"
	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// inTime fails the test if f does not return.
func inTime(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal(what + " does not return")
	}
}

// handling is a handler of log lines that calls a function for each.
type handling func(what string)

func (h handling) Enabled(context.Context, slog.Level) bool { return true }
func (h handling) Handle(_ context.Context, r slog.Record) error {
	h(r.Message)
	return nil
}
func (h handling) WithAttrs([]slog.Attr) slog.Handler { return h }
func (h handling) WithGroup(string) slog.Handler      { return h }

// Row 33: a handler of log lines may use the cache.
func TestFault33LogHandlerUsesTheCache(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, 1)
		f := vfstest.NewFaulty(vfstest.NewMem())
		cfg := testConfig(f, w)
		var get func() error
		failed, told := make(chan error, 1), atomic.Int32{}
		cfg.Log = slog.New(handling(func(what string) {
			told.Add(1)
			if what == "firn: SSD tier: a read failed" {
				err := get()
				w.tier.Clear()
				failed <- err
			}
		}))
		w.reopen(t, cfg)
		key := w.key(1)
		w.put(t, key)
		for i := range 200 { // so that it is not in memory any more
			w.put(t, w.key(1000+i))
		}
		get = func() error {
			_, err := w.tier.Get(background, nil, key, w.hasher.Hash(key))
			return err
		}
		bad := f.Inject(vfstest.Rule{On: vfstest.OpRead, Name: format.LogName, Err: syscall.EIO})
		inTime(t, "Get", func() { _ = get() })
		inTime(t, "the handler", func() { <-failed })
		bad.Remove()
		n := told.Load()
		w.close(t)
		if n == 0 {
			t.Error("nothing was logged")
		}
	})
}

// An iteration holds no segment in memory while the user looks at a record.
func TestAllHoldsNoSegment(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, 1)
		w.reopen(t, testConfig(vfstest.NewMem(), w))
		for i := range 10 {
			w.put(t, w.key(i))
		}
		n := 0
		w.tier.All(func(_ uint64, key, value []byte) bool {
			if _, err := seqOf(key, value); err != nil {
				t.Errorf("%s: %v", key, err)
			}
			w.tier.log.mu.Lock()
			for _, s := range w.tier.log.memory {
				if s.pins != 0 {
					t.Errorf("segment %d is pinned", s.serial)
				}
			}
			w.tier.log.mu.Unlock()
			n++
			return true
		})
		if n != 10 {
			t.Errorf("%d records", n)
		}
		w.close(t)
	})
}

// Row 33: what leaves RAM because the index grows is reported to the user, whose
// answer may be a write that waits for the keeper.
func TestFault33GrowingWaitsForTheUser(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 4500
		w := newWorld(t, 1)
		w.most = 1
		tier, err := Open(testConfig(vfstest.NewMem(), w))
		if err != nil {
			t.Fatal(err)
		}
		w.tier, w.hasher = tier, record.NewHasher(tier.Seed())
		var started atomic.Bool
		reporting, reported := make(chan struct{}), make(chan struct{})
		var once sync.Once
		err = tier.Start(func(int64) error {
			if started.Load() {
				once.Do(func() { close(reporting) })
				<-reported
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		started.Store(true)
		inTime(t, "growing", func() {
			for i := 0; ; i++ {
				select {
				case <-reporting:
					return
				default:
					w.set(w.key(i%keys), 0)
					w.demote(w.key(i % keys))
				}
			}
		})
		inTime(t, "a write", func() {
			for reclaimed := tier.Stats().Reclaimed; tier.Stats().Reclaimed < reclaimed+3; {
				for i := range keys {
					w.set(w.key(i), 0)
					w.demote(w.key(i))
				}
			}
		})
		close(reported)
		w.close(t)
	})
}
