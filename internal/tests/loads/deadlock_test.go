package loads

import (
	"context"
	"errors"
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
