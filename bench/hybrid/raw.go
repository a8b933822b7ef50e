package hybrid

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firncache/firn/internal/aio"
	"github.com/firncache/firn/internal/vfs"
)

// Device is the name that the figures of the disk itself have.
const Device = "device"

// RawRead is the bytes of one read of the disk itself.
const RawRead = 4 << 10

// A Raw is a file that is read past the page cache and past all stores: what the
// disk gives to whoever asks it best.
type Raw struct {
	file   vfs.File
	reader *aio.Reader
	blocks int64
}

// OpenRaw makes a file of so many bytes in dir, full of data. It fails where the
// file system knows no direct I/O.
func OpenRaw(dir string, bytes int64) (*Raw, error) {
	fsys, err := vfs.OS(dir)
	if err != nil {
		return nil, err
	}
	file, err := fsys.Open("raw", vfs.OpenOptions{Create: true, Direct: true})
	if err != nil {
		return nil, err
	}
	r := &Raw{file: file, blocks: max(bytes/RawRead, 1)}
	if err := r.fill(); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	if r.reader, err = aio.Open(aio.Config{File: file}); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return r, nil
}

// fill writes every block: a file system need not read the disk for others.
func (r *Raw) fill() error {
	const most = 1 << 20
	total := r.blocks * RawRead
	if err := r.file.Allocate(total); err != nil {
		return err
	}
	buf := vfs.Aligned(most, RawRead)
	for at := int64(0); at < total; at += most {
		p := buf[:min(most, total-at)]
		Fill(p, uint64(at))
		if _, err := r.file.WriteAt(p, at); err != nil {
			return err
		}
	}
	return r.file.Sync()
}

// Read reads random blocks with so many in flight for some time. It returns how
// many it read, and how long that took.
func (r *Raw) Read(inFlight int, length time.Duration, seed uint64) (ops int64, elapsed time.Duration, err error) {
	var stop atomic.Bool
	counts, errs := make([]int64, inFlight), make([]error, inFlight)
	began := time.Now()
	var done sync.WaitGroup
	for g := range inFlight {
		done.Go(func() {
			rng := rand.New(rand.NewPCG(seed, uint64(g)))
			for counts[g] == 0 || !stop.Load() {
				buf, err := r.reader.Read(context.Background(), rng.Int64N(r.blocks)*RawRead, RawRead)
				if err != nil {
					errs[g] = fmt.Errorf("read: %w", err)
					return
				}
				buf.Release()
				counts[g]++
			}
		})
	}
	time.Sleep(length)
	stop.Store(true)
	done.Wait()
	for _, n := range counts {
		ops += n
	}
	return ops, time.Since(began), errors.Join(errs...)
}

// Close ends the reads and closes the file.
func (r *Raw) Close() error { return errors.Join(r.reader.Close(), r.file.Close()) }
