package compute

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/shared/sharedtest"
	"github.com/firncache/firn/internal/tests/harness"
	"github.com/firncache/firn/internal/testseam"
)

// reuser is a caller with one buffer for keys and one for values. What the cache calls uses
// both for something else: the methods keep no slice that they were given.
type reuser struct {
	*testing.T
	c            *firn.Cache
	key, value   []byte
	keys, values [][]byte    // of a batch
	busy         atomic.Bool // a call is under way, in which OnEvict reuses the buffers
}

func openReuser(t *testing.T, o firn.Options) *reuser {
	r := &reuser{T: t}
	o.RAMBytes = firn.MinRAMBytes
	o.OnEvict = func([]byte, []byte, firn.Cause) {
		if r.busy.Load() {
			r.reuse()
		}
	}
	c, err := firn.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	r.c = c
	return r
}

// use fills the buffers.
func (r *reuser) use(i int) {
	r.key = fmt.Appendf(r.key[:0], "key %5d", i)
	r.value = fmt.Appendf(r.value[:0], "%8d", i)
	for len(r.keys) < 32 {
		r.keys, r.values = append(r.keys, nil), append(r.values, nil)
	}
	for j := range r.keys {
		r.keys[j] = fmt.Appendf(r.keys[j][:0], "key %5d", i+1000*j)
		r.values[j] = fmt.Appendf(r.values[j][:0], "%8d", i)
	}
}

// reuse writes other keys and values, of the same lengths, into the buffers.
func (r *reuser) reuse() {
	copy(r.key, "reused 12")
	copy(r.value, "reused..")
	for j := range r.keys {
		copy(r.keys[j], fmt.Sprintf("reused%3d", j))
	}
}

// holds demands that the key of number i has a value, or none.
func (r *reuser) holds(i int, want bool) {
	r.Helper()
	v, ok := r.c.Get(nil, fmt.Appendf(nil, "key %5d", i))
	if ok != want || ok && string(v) != fmt.Sprintf("%8d", i%1000) {
		r.Errorf("key %d: %q, %v: want one: %v", i, v, ok, want)
	}
}

// sound demands that the cache is in order, and that what it yields it finds.
func (r *reuser) sound() {
	r.Helper()
	if err := testseam.Store(r.c).RAM.Check(); err != nil {
		r.Error(err)
	}
	for key, value := range r.c.All() {
		if v, ok := r.c.Get(nil, key); !ok || string(v) != string(value) {
			r.Errorf("%q is yielded with %q, and found as %q, %v", key, value, v, ok)
		}
	}
}

// bufferCalls are the methods that call the user, with what the key holds afterwards.
var bufferCalls = map[string]struct {
	call   func(ctx context.Context, r *reuser) error
	loads  bool // the user is called in a goroutine of the cache's
	before bool // there is a value already
	after  bool // likewise; of a batch, whose keys OnEvict changes while others are still to come, it is not checked
}{
	"Compute": {func(ctx context.Context, r *reuser) error {
		return r.c.Compute(ctx, r.key, func([]byte, bool) ([]byte, firn.Op) {
			value := append([]byte(nil), r.value...)
			r.reuse()
			return value, firn.OpSet
		})
	}, false, false, true},
	"Compute, twice": {func(ctx context.Context, r *reuser) error {
		key, tries := string(r.key), 0
		value := append([]byte(nil), r.value...)
		return r.c.Compute(ctx, r.key, func([]byte, bool) ([]byte, firn.Op) {
			r.reuse()
			if tries++; tries == 1 {
				harness.Must(r, r.c.Set([]byte(key), []byte("meanwhile")))
			}
			return value, firn.OpUpdate
		})
	}, false, true, true},
	"Compute that deletes": {func(ctx context.Context, r *reuser) error {
		return r.c.Compute(ctx, r.key, func([]byte, bool) ([]byte, firn.Op) {
			r.reuse()
			return nil, firn.OpDelete
		})
	}, false, true, false},
	"GetOrLoad": {func(ctx context.Context, r *reuser) error {
		_, err := r.c.GetOrLoad(ctx, nil, r.key, r.load())
		return err
	}, true, false, true},
	"Refresh": {func(ctx context.Context, r *reuser) error {
		_, err := r.c.Refresh(ctx, nil, r.key, r.load())
		return err
	}, true, true, true},
	"GetOrLoadMulti": {func(ctx context.Context, r *reuser) error {
		return r.c.GetOrLoadMulti(ctx, new(firn.Batch), [][]byte{r.key}, func(ctx context.Context, keys [][]byte) ([][]byte, error) {
			v, err := r.load()(ctx, keys[0])
			return [][]byte{v}, err
		})
	}, true, false, true},
	"Set":          {func(ctx context.Context, r *reuser) error { return r.c.Set(r.key, r.value) }, false, true, true},
	"SetMulti":     {func(ctx context.Context, r *reuser) error { return r.c.SetMulti(ctx, r.keys, r.values) }, false, true, true},
	"Delete":       {func(ctx context.Context, r *reuser) error { return r.c.Delete(r.key) }, false, true, false},
	"DeleteMulti":  {func(ctx context.Context, r *reuser) error { return r.c.DeleteMulti(ctx, r.keys...) }, false, true, false},
	"Touch":        {func(ctx context.Context, r *reuser) error { return second(r.c.Touch(ctx, r.key, firn.Forever)) }, false, true, true},
	"GetAndDelete": {func(ctx context.Context, r *reuser) error { return second(r.c.GetAndDelete(ctx, nil, r.key)) }, false, true, false},
	"SetIfAbsent":  {func(ctx context.Context, r *reuser) error { return second(r.c.SetIfAbsent(ctx, r.key, r.value)) }, false, false, true},
	"CompareAndSwap": {func(ctx context.Context, r *reuser) error {
		return second(r.c.CompareAndSwap(ctx, r.key, r.value, r.value))
	}, false, true, true},
}

// load is a loader that uses the caller's buffers for something else.
func (r *reuser) load() firn.LoadFunc {
	return func(context.Context, []byte) ([]byte, error) {
		value := append([]byte(nil), r.value...)
		r.reuse()
		return value, nil
	}
}

func second[T any](_ T, err error) error { return err }

// Whatever the functions that a method calls do with the buffers that it was called with, it
// does what it was to do, and the cache is in order.
func TestReusedBuffers(t *testing.T) {
	for name, x := range bufferCalls {
		for where, o := range map[string]firn.Options{"RAM": {}, "shared": {Shared: sharedtest.NewServer().Tier()}} {
			t.Run(name+", "+where, func(t *testing.T) {
				r := openReuser(t, o)
				for i := range 200 {
					r.use(i)
					if x.before {
						harness.Must(t, r.c.SetMulti(t.Context(), r.keys, r.values))
					}
					r.busy.Store(!x.loads) // whose OnEvict may be called later
					if err := x.call(t.Context(), r); err != nil && !errors.Is(err, firn.ErrNotFound) {
						t.Fatal(err)
					}
					r.busy.Store(false)
					if !strings.HasSuffix(name, "Multi") {
						r.holds(i, x.after)
					}
				}
				r.sound()
			})
		}
	}
}

// A Refresh that has waited for a load which began before it loads its own key, though
// its caller's buffer was used meanwhile.
func TestRefreshAfterReusedBuffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := openReuser(t, firn.Options{Clock: time.Now})
		r.use(1)
		reused := make(chan struct{})
		go r.c.GetOrLoad(t.Context(), nil, append([]byte(nil), r.key...), func(context.Context, []byte) ([]byte, error) {
			<-reused
			return []byte("older"), nil
		})
		synctest.Wait()
		go r.c.Refresh(t.Context(), nil, r.key, func(context.Context, []byte) ([]byte, error) { return []byte("       1"), nil })
		synctest.Wait() // for it waits for the other load
		r.reuse()
		close(reused)
		synctest.Wait()
		r.holds(1, true)
		r.sound()
	})
}
