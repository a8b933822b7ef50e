package loads

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/tests/harness"
)

// Loaders that ask for each other's keys, each begun by a caller of its own, do not wait for each other:
// one of them gets an error at once, whatever it does with it, and nobody waits until HardTimeout.
func TestLoadersThatWaitForEachOther(t *testing.T) {
	t.Parallel()
	for _, loaders := range []int{2, 3, 10} {
		synctest.Test(t, func(t *testing.T) {
			c, err := firn.Open(firn.Options{RAMBytes: 1 << 20, Clock: time.Now})
			harness.Must(t, err)
			defer c.Close()
			begin, failed := time.Now(), make(chan error, loaders)
			for i := range loaders {
				key, next := []byte{byte(i)}, []byte{byte((i + 1) % loaders)}
				go func() {
					_, err := c.GetOrLoad(t.Context(), nil, key, func(ctx context.Context, _ []byte) ([]byte, error) {
						time.Sleep(time.Second) // all have begun
						return c.GetOrLoad(ctx, nil, next, func(context.Context, []byte) ([]byte, error) {
							return nil, errors.New("no other loader is under way")
						})
					})
					failed <- err
				}()
			}
			for range loaders {
				if err := <-failed; err == nil || !strings.Contains(err.Error(), "waits for a key that this loader is loading") {
					t.Errorf("%d loaders: %v", loaders, err)
				}
			}
			if took := time.Since(begin); took != time.Second {
				t.Errorf("%d loaders: %v, want a second", loaders, took)
			}
		})
	}
}

// Who has given up waiting is waited for, and so is who waits for something else.
func TestLoadersThatWaitedForEachOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, err := firn.Open(firn.Options{RAMBytes: 1 << 20, Clock: time.Now})
		harness.Must(t, err)
		defer c.Close()
		one, two := []byte("one"), []byte("two")
		first := make(chan string, 1)
		go func() {
			v, err := c.GetOrLoad(t.Context(), nil, one, func(ctx context.Context, _ []byte) ([]byte, error) {
				time.Sleep(time.Second) // the other has begun
				short, cancel := context.WithTimeout(ctx, time.Second)
				defer cancel()
				if _, err := c.GetOrLoad(short, nil, two, nil); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%v: want the deadline exceeded", err)
				}
				time.Sleep(5 * time.Second)
				return []byte("v"), nil
			})
			first <- string(v)
			harness.Must(t, err)
		}()
		v, err := c.GetOrLoad(t.Context(), nil, two, func(ctx context.Context, _ []byte) ([]byte, error) {
			time.Sleep(3 * time.Second)
			return c.GetOrLoad(ctx, nil, one, nil)
		})
		if err != nil || string(v) != "v" || <-first != "v" {
			t.Errorf("%q, %v", v, err)
		}
	})
}

// ways are how a loader asks for a key.
var ways = map[string]func(ctx context.Context, c *firn.Cache, key []byte, load firn.LoadFunc) error{
	"GetOrLoad": func(ctx context.Context, c *firn.Cache, key []byte, load firn.LoadFunc) error {
		return harness.Err(c.GetOrLoad(ctx, nil, key, load))
	},
	"GetOrLoadMulti": func(ctx context.Context, c *firn.Cache, key []byte, load firn.LoadFunc) error {
		keys := [][]byte{append([]byte("another "), key...), key}
		return c.GetOrLoadMulti(ctx, new(firn.Batch), keys, func(ctx context.Context, keys [][]byte) ([][]byte, error) {
			v, err := load(ctx, key)
			return slices.Repeat([][]byte{v}, len(keys)), err
		})
	},
	"Refresh": func(ctx context.Context, c *firn.Cache, key []byte, load firn.LoadFunc) error {
		return harness.Err(c.Refresh(ctx, nil, key, load))
	},
}

// A loader that asks for a key that is being loaded on its own behalf does not wait for itself: the
// last of the circle gets an error at once, also where the first was called for nobody.
func TestCirclesOfLoaders(t *testing.T) {
	t.Parallel()
	for way, ask := range ways {
		for keys := 1; keys <= 3; keys++ {
			for _, ahead := range []bool{false, true} {
				if ahead && way != "Refresh" {
					continue // there is a value
				}
				synctest.Test(t, func(t *testing.T) {
					c := harness.OpenSmall(t, func(o *firn.Options) {
						o.Clock, o.TTL, o.Loading.RefreshAfter = time.Now, time.Hour, time.Minute
					})
					var calls int
					var failed error
					var load firn.LoadFunc
					load = func(ctx context.Context, key []byte) ([]byte, error) {
						if calls++; calls > 10 {
							return nil, errors.New("no end")
						}
						failed = ask(ctx, c, []byte{(key[0] + 1) % byte(keys)}, load)
						return []byte("v"), failed
					}
					first := []byte{0}
					if ahead {
						harness.Set(t, c, first, []byte("old"))
						time.Sleep(2 * time.Minute)
						harness.Must(t, harness.Err(c.GetOrLoad(t.Context(), nil, first, load)))
					} else if err := ask(t.Context(), c, first, load); err == nil {
						t.Error("no error")
					}
					begin := time.Now()
					synctest.Wait()
					if failed == nil || !strings.Contains(failed.Error(), "loader asks for a key") || calls != keys || time.Since(begin) != 0 {
						t.Errorf("%s, %d keys, ahead %v: %v after %d calls", way, keys, ahead, failed, calls)
					}
				})
			}
		}
	}
}

// A load that a loader began, and does not wait for, may wait for that loader: a refresh ahead,
// and one that the loader has given up.
func TestLoadThatItsBeginnerDoesNotWaitFor(t *testing.T) {
	t.Parallel()
	a, b := []byte("a"), []byte("b")
	for _, ahead := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			c := harness.OpenSmall(t, func(o *firn.Options) {
				o.Clock, o.TTL, o.Loading.RefreshAfter = time.Now, time.Hour, time.Minute
			})
			if ahead {
				harness.Set(t, c, b, []byte("old"))
				time.Sleep(2 * time.Minute)
			}
			loadB := func(ctx context.Context, _ []byte) ([]byte, error) {
				time.Sleep(2 * time.Second)
				v, err := c.GetOrLoad(ctx, nil, a, nil)
				return append(v, " of b"...), err
			}
			v, err := c.GetOrLoad(t.Context(), nil, a, func(ctx context.Context, _ []byte) ([]byte, error) {
				short, cancel := context.WithTimeout(ctx, time.Second)
				defer cancel()
				if _, err := c.GetOrLoad(short, nil, b, loadB); (err == nil) != ahead {
					t.Errorf("ahead %v: %v", ahead, err)
				}
				time.Sleep(5 * time.Second)
				return []byte("v"), nil
			})
			synctest.Wait()
			if got, ok := c.Get(nil, b); string(v) != "v" || err != nil || string(got) != "v of b" || !ok {
				t.Errorf("ahead %v: %q, %v, and b is %q", ahead, v, err, got)
			}
		})
	}
}
