package firn_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// Every call of a loader is counted with the time that it took, one that fails or panics too.
func TestLoadDurations(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := open(t, firn.Options{RAMBytes: 1 << 20, Clock: time.Now})
		for i, end := range []func() error{
			func() error { return nil },
			func() error { return errors.New("failed") },
			func() error { panic("in a loader") },
		} {
			func() {
				defer func() { _ = recover() }()
				_, _ = c.GetOrLoad(context.Background(), nil, []byte{byte(i)}, func(context.Context, []byte) ([]byte, error) {
					time.Sleep(time.Second)
					return []byte("v"), end()
				})
			}()
		}
		synctest.Wait()
		if h := c.Stats().Loads.Durations; h.Count() != 3 || h.Sum() != 3*time.Second || h.Quantile(1) < time.Second {
			t.Errorf("%v, want 3 of 1 s", h)
		}
	})
}

// Every read of the disk is counted with its time.
func TestReadDurations(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := hybridOn(t, vfstest.NewMem())
		for i := range 6000 {
			key, value := numbered(i)
			set(t, c, key, value)
		}
		countMissing(t, c, 6000)
		if s := c.Stats().SSD; s.Reads == 0 || s.ReadDurations.Count() != s.Reads {
			t.Errorf("%v, want one for each of %d reads", &s.ReadDurations, s.Reads)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	})
}
