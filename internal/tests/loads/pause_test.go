package loads

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/tests/harness"
)

var errDown = errors.New("the source is down")

// While the source fails it is asked for a key with a value once in RetryAfter, however
// many readers there are; of a key without one by each.
func TestRetryAfter(t *testing.T) {
	for name, x := range map[string]struct {
		loading firn.LoadingOptions
		age     time.Duration // of the value when the source fails
		retry   time.Duration
	}{
		"refresh ahead":          {firn.LoadingOptions{RefreshAfter: 30 * time.Second}, 40 * time.Second, time.Second},
		"stale while revalidate": {firn.LoadingOptions{StaleWhileRevalidate: time.Hour}, 2 * time.Minute, time.Second},
		"stale if error":         {firn.LoadingOptions{StaleIfError: time.Hour}, 2 * time.Minute, time.Second},
		"5 s":                    {firn.LoadingOptions{StaleIfError: time.Hour, RetryAfter: 5 * time.Second}, 2 * time.Minute, 5 * time.Second},
		"hanging":                {firn.LoadingOptions{StaleWhileRevalidate: time.Hour, HardTimeout: time.Millisecond}, 2 * time.Minute, time.Second},
	} {
		for _, multi := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, multi %v", name, multi), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := harness.OpenSmall(t, func(o *firn.Options) { o.TTL, o.Loading = time.Minute, x.loading })
					s := &source{}
					if name == "hanging" {
						s.slow = time.Second / 2
					}
					harness.Set(t, c, []byte("k"), []byte("v"))
					time.Sleep(x.age)
					s.fail(errDown)
					for range 3 {
						began := s.count()
						for range 10 {
							s.ask(t, c, multi, "v", nil)
							synctest.Wait()
							time.Sleep(x.retry / 10)
						}
						time.Sleep(10 * time.Millisecond) // the load did not fail at once
						if n := s.count() - began; n != 1 {
							t.Errorf("%d loads in %v, want 1", n, x.retry)
						}
					}
					s.slow = 0
					s.fail(nil)
					s.ask(t, c, multi, "", nil)
					synctest.Wait()
					if v, ok := c.Get(nil, []byte("k")); !ok || string(v) != "v4" {
						t.Errorf("when the source is back: %q, %v", v, ok)
					}
					if n := c.Stats().Loads.Paused; n != 27 {
						t.Errorf("%d loads paused, want 27", n)
					}
				})
			})
		}
	}
}

// ask is expect of a single call or a batch; want "" is any value.
func (s *source) ask(t *testing.T, c *firn.Cache, multi bool, want string, wantErr error) {
	t.Helper()
	k := []byte("k")
	v, err := []byte(nil), error(nil)
	if multi {
		var b firn.Batch
		err = c.GetOrLoadMulti(t.Context(), &b, [][]byte{k}, func(ctx context.Context, _ [][]byte) ([][]byte, error) {
			v, err := s.load(ctx, nil)
			return [][]byte{v}, err
		})
		v, _ = b.Value(0)
	} else {
		v, err = c.GetOrLoad(t.Context(), nil, k, s.load)
	}
	if !errors.Is(err, wantErr) || want != "" && string(v) != want {
		t.Errorf("%q, %v: want %q, %v", v, err, want, wantErr)
	}
}

// A panic pauses refreshes in the background, and is never hidden from a caller who waits.
func TestPanicPausesRefreshes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := harness.OpenSmall(t, func(o *firn.Options) {
			o.TTL, o.Loading.StaleWhileRevalidate, o.Loading.StaleIfError, o.Loading.ErrorTTL = time.Minute, time.Minute, time.Hour, time.Hour
		})
		harness.Set(t, c, []byte("k"), []byte("v"))
		loads := 0
		call := func() (v []byte, recovered any) {
			defer func() { recovered = recover() }()
			v, err := c.GetOrLoad(t.Context(), nil, []byte("k"), func(context.Context, []byte) ([]byte, error) { loads++; panic("boom") })
			if err != nil {
				t.Error(err)
			}
			synctest.Wait()
			return v, nil
		}
		time.Sleep(90 * time.Second)
		for range 10 {
			if v, r := call(); string(v) != "v" || r != nil {
				t.Errorf("%q, %v", v, r)
			}
		}
		if loads != 1 {
			t.Errorf("%d loads, want 1", loads)
		}
		time.Sleep(time.Minute)
		for range 3 {
			if _, r := call(); r == nil {
				t.Error("a panic was hidden")
			}
		}
	})
}

// With ErrorTTL an error is remembered for callers that find no value; without it none is.
// A load that succeeds ends it, a panic is not remembered.
func TestErrorTTL(t *testing.T) {
	for _, multi := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c := harness.OpenSmall(t)
			s := &source{err: errDown}
			for range 3 {
				s.ask(t, c, multi, "", errDown)
			}
			if n := s.count(); n != 3 {
				t.Errorf("without ErrorTTL %d loads, want 3", n)
			}
		})
		synctest.Test(t, func(t *testing.T) {
			c := harness.OpenSmall(t, func(o *firn.Options) { o.Loading.ErrorTTL = 10 * time.Second })
			s := &source{err: errDown}
			for range 10 {
				s.ask(t, c, multi, "", errDown)
				time.Sleep(time.Second)
			}
			if st := c.Stats().Loads; s.count() != 1 || st.ErrorHits != 9 {
				t.Errorf("%d loads, %d error hits: want 1 and 9", s.count(), st.ErrorHits)
			}
			s.ask(t, c, multi, "", errDown) // the second load
			s.fail(nil)
			if v, err := c.Refresh(t.Context(), nil, []byte("k"), s.load); err != nil || string(v) != "v3" {
				t.Errorf("Refresh: %q, %v", v, err)
			}
			if err := c.Delete([]byte("k")); err != nil {
				t.Error(err)
			}
			s.ask(t, c, multi, "v4", nil)
		})
	}
}

// However many loads fail, what is remembered of them is bounded; a key that is longer than
// a kilobyte is not remembered at all.
func TestErrorsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := harness.OpenSmall(t, func(o *firn.Options) { o.Loading.ErrorTTL = time.Hour })
		const n = 64*64 + 1
		loads := 0
		ask := func(key []byte) {
			_, err := c.GetOrLoad(t.Context(), nil, key, func(context.Context, []byte) ([]byte, error) { loads++; return nil, errDown })
			if err != errDown {
				t.Fatal(err)
			}
		}
		for i := range n {
			ask(fmt.Append(nil, "key ", i))
		}
		if loads != n {
			t.Fatalf("%d loads of %d keys", loads, n)
		}
		ask(fmt.Append(nil, "key ", n-1))
		if loads != n {
			t.Error("the last error is not remembered")
		}
		for i := range n {
			ask(fmt.Append(nil, "key ", i))
		}
		if loads == n {
			t.Errorf("the errors of %d keys are remembered", n)
		}
		for range 3 {
			before := loads
			if ask(make([]byte, 1025)); loads != before+1 {
				t.Error("the error of a long key is remembered")
			}
		}
	})
}
