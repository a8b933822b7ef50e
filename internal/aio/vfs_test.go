package aio

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/firncache/firn/internal/vfs/vfstest"

	"github.com/firncache/firn/internal/vfs"
)

// faultyFile is a file for direct I/O with blocks of 4096 bytes, which panics at
// a misaligned call, and where faults can be injected.
func faultyFile(t *testing.T) (vfs.File, *vfstest.Faulty) {
	t.Helper()
	mem := vfstest.NewMem()
	mem.SetDirect(4096)
	faulty := vfstest.NewFaulty(mem)
	f, err := faulty.Open("data", vfs.OpenOptions{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(content, 0); err != nil {
		t.Fatal(err)
	}
	f.Close()
	f, err = faulty.Open("data", vfs.OpenOptions{Direct: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f, faulty
}

// TestDirect: addresses, offsets and lengths are aligned, for every size.
func TestDirect(t *testing.T) {
	f, _ := faultyFile(t)
	r := open(t, Config{File: f, Depth: 4})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			reqs := make([]Request, 40)
			for i := range reqs {
				n := 1 + rand.Int64N(64)
				reqs[i] = Request{Off: 4096 * rand.Int64N(int64(len(content))/4096-n), N: int(4096 * n)}
			}
			r.ReadMany(context.Background(), reqs)
			for _, q := range reqs {
				check(t, q)
			}
		})
	}
	wg.Wait()
	buf, err := r.Read(t.Context(), 0, len(content))
	check(t, Request{N: len(content), Buf: buf, Err: err})
}

// TestInjectedErrors reach the reads that they hit, and no others.
func TestInjectedErrors(t *testing.T) {
	f, faulty := faultyFile(t)
	r := open(t, Config{File: f, Depth: 4})
	faulty.Inject(vfstest.Rule{On: vfstest.OpRead, Skip: 5, Times: 10, Err: errDisk})
	reqs := make([]Request, 30)
	for i := range reqs {
		reqs[i] = Request{Off: int64(4096 * i), N: 4096}
	}
	r.ReadMany(context.Background(), reqs)
	failed := 0
	for _, q := range reqs {
		if errors.Is(q.Err, errDisk) {
			failed++
		} else {
			check(t, q)
		}
	}
	if s := r.Stats(); failed != 10 || s.Errors != 10 || s.Reads != 30 {
		t.Errorf("%d reads of 30 failed, %+v", failed, s)
	}
}
