package ssd

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/tests/harness"
	"github.com/firncache/firn/internal/vfs/vfstest"
	"github.com/firncache/firn/stats"
)

// slowDisk is a cache with a value of key 0 on a disk of which reads are held.
func slowDisk(t *testing.T, timeout time.Duration) (c *firn.Cache, stuck *vfstest.Injection) {
	t.Helper()
	f := vfstest.NewFaulty(vfstest.NewMem())
	c, err := firn.Open(firn.Options{RAMBytes: 1 << 20, Clock: time.Now,
		SSD: harness.On(firn.SSDOptions{Bytes: 16 << 20, SegmentBytes: 64 << 10, Admission: firn.AdmitAll, Depth: 4, ReadTimeout: timeout}, f)})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 6000 {
		key, value := harness.Numbered(i)
		harness.Set(t, c, key, value)
	}
	return c, f.Inject(vfstest.Rule{On: vfstest.OpRead, Name: "log", Block: true})
}

// Row 16: a read that takes longer than SSDOptions.ReadTimeout is a miss, in every
// way to ask, and is told as one; a value is there again when the disk is.
func TestFault16ReadTimeout(t *testing.T) {
	t.Parallel()
	const timeout = 300 * time.Millisecond
	key, value := harness.Numbered(0)
	loaded := []byte("loaded")
	ways := map[string]func(t *testing.T, c *firn.Cache) (found []byte){
		"Get": func(t *testing.T, c *firn.Cache) []byte {
			v, ok := c.Get(nil, key)
			if ok {
				t.Errorf("found %q", v)
			}
			return v
		},
		"Lookup": func(t *testing.T, c *firn.Cache) []byte {
			v, err := c.Lookup(context.Background(), nil, key)
			if !errors.Is(err, firn.ErrSSDTimeout) || errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), timeout.String()) {
				t.Errorf("%v: want ErrSSDTimeout, with the time", err)
			}
			return v
		},
		"LookupMulti": func(t *testing.T, c *firn.Cache) []byte {
			var b firn.Batch
			inRAM, _ := harness.Numbered(5999)
			if err := c.GetMulti(context.Background(), &b, [][]byte{key, inRAM}); !errors.Is(err, firn.ErrSSDTimeout) {
				t.Errorf("%v: want ErrSSDTimeout", err)
			}
			if _, ok := b.Value(1); !ok {
				t.Error("what lies in RAM is missing")
			}
			v, _ := b.Value(0)
			return v
		},
		"GetOrLoad": func(t *testing.T, c *firn.Cache) []byte {
			v, err := c.GetOrLoad(context.Background(), nil, key, func(context.Context, []byte) ([]byte, error) { return loaded, nil })
			if err != nil || string(v) != string(loaded) {
				t.Errorf("%q, %v: want what was loaded", v, err)
			}
			return nil
		},
	}
	for name, ask := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c, stuck := slowDisk(t, timeout)
				began := time.Now()
				if v := ask(t, c); len(v) > 0 {
					t.Errorf("found %q", v)
				}
				took := time.Since(began)
				if took != timeout {
					t.Errorf("it took %v, want %v", took, timeout)
				}
				s := c.Stats()
				if s.SSD.ReadTimeouts == 0 || s.SSD.ReadErrors != 0 || !s.SSD.Online || s.SSD.Hits != 0 {
					t.Errorf("%d timeouts, %d errors, on: %v, %d hits", s.SSD.ReadTimeouts, s.SSD.ReadErrors, s.SSD.Online, s.SSD.Hits)
				}
				stuck.Remove()
				synctest.Wait()
				want := value
				if name == "GetOrLoad" {
					want = loaded
				}
				if v, err := c.Lookup(context.Background(), nil, key); err != nil || string(v) != string(want) {
					t.Errorf("%q, %v when the disk goes on: want %q", v, err, want)
				}
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// Row 16: thousands who ask a disk that does nothing do not gather, though no
// timeout is set: most get nothing, at once, and those who wait get their values
// when the disk goes on.
func TestFault16ReadsRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const callers, most = 3000, 4 + 1024
		c, stuck := slowDisk(t, 0)
		key, value := harness.Numbered(0)
		answers := make(chan error, callers)
		for range callers {
			go func() {
				v, err := c.Lookup(context.Background(), nil, key)
				if err == nil && string(v) != string(value) {
					err = errors.New("another value: " + string(v))
				}
				answers <- err
			}()
		}
		synctest.Wait()
		if n := len(answers); n != callers-most {
			t.Errorf("%d of %d calls have ended, want %d", n, callers, callers-most)
		}
		for range len(answers) {
			if err := <-answers; !errors.Is(err, firn.ErrSSDBusy) {
				t.Errorf("%v: want ErrSSDBusy", err)
			}
		}
		if s := c.Stats(); s.SSD.ReadsRejected != callers-most || s.SSD.ReadTimeouts != 0 {
			t.Errorf("%d refused, %d timeouts", s.SSD.ReadsRejected, s.SSD.ReadTimeouts)
		}
		stuck.Remove()
		for range most {
			if err := <-answers; err != nil {
				t.Error(err)
			}
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// How the disk is read is told by name.
func TestReadEngine(t *testing.T) {
	t.Parallel()
	c := harness.OpenSmall(t)
	if e := c.Stats().SSD.ReadEngine; e != stats.NoReadEngine || e.String() != "none" {
		t.Errorf("without an SSD tier: %v", e)
	}
	synctest.Test(t, func(t *testing.T) {
		c, err := firn.Open(firn.Options{RAMBytes: 1 << 20, SSD: harness.On(firn.SSDOptions{Bytes: 4 << 20}, vfstest.NewMem())})
		if err != nil {
			t.Fatal(err)
		}
		if e := c.Stats().SSD.ReadEngine; e != stats.ReadPread || e.String() != "pread" {
			t.Errorf("of a file without a descriptor: %v", e)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}
