package ssd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/ssd"
	"github.com/firncache/firn/internal/store"
	"github.com/firncache/firn/internal/testseam"
	"github.com/firncache/firn/internal/vfs"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// process is a cache with a typed one that has tags and hot values.
type process struct {
	*testing.T
	cache *firn.Cache
	rows  *firn.Typed[int, []byte]
	bytes *firn.Typed[int, []byte] // the same rows, without hot values, which keep what the tiers have dropped
}

func newProcess(t *testing.T, dir string, disk vfs.FS) *process {
	t.Helper()
	o := firn.Options{RAMBytes: 1 << 20, Log: slog.New(slog.DiscardHandler), SSD: firn.SSDOptions{Dir: dir, Bytes: 64 << 20, Admission: firn.AdmitAll}}
	c, err := testseam.Open(o, func(c *store.Config) {
		c.FS, c.Adjust = disk, func(s *ssd.Config) {
			s.MaxWriteStall, s.StallTimeout, s.ReadTimeout = time.Minute, time.Minute, time.Minute
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	p := &process{T: t, cache: c.(*firn.Cache)}
	if p.rows, err = firn.NewTyped(p.cache, "rows", firn.TypedOptions[int, []byte]{HotValues: rows, ReadOnly: true}); err != nil {
		t.Fatal(err)
	}
	if p.bytes, err = firn.NewTyped(p.cache, "rows", firn.TypedOptions[int, []byte]{}); err != nil {
		t.Fatal(err)
	}
	return p
}

const rows = 5_000

func tagsOf(i int) []string { return []string{fmt.Sprintf("tag %d", i%10)} }

func (p *process) fill() {
	for i := range rows {
		if err := p.rows.SetWith(context.Background(), i, make([]byte, 600), firn.SetOptions{Tags: tagsOf(i)}); err != nil {
			p.Fatal(err)
		}
	}
	if err := p.rows.InvalidateTag(context.Background(), "tag 3"); err != nil {
		p.Fatal(err)
	}
}

// found is how many rows there are. Those of the tag that was invalidated are none.
func (p *process) found() (n int) {
	for i := range rows {
		if _, ok := p.bytes.Get(i); ok {
			if n++; i%10 == 3 {
				p.Fatalf("row %d, whose tag was invalidated, is found", i)
			}
		}
	}
	return n
}

// A cache that was closed and could not save its index is found by the next one in the
// process, at once, as it would be by another process: whoever still reads in the closed one
// reads in no memory that the next one has.
func TestReopenAfterCloseThatSavedNothing(t *testing.T) {
	dir := t.TempDir()
	real, err := vfs.OS(dir)
	if err != nil {
		t.Fatal(err)
	}
	disk := vfstest.NewFaulty(real)
	disk.Inject(vfstest.Rule{On: vfstest.OpWrite, Name: "snapshot.new", Times: 2, Err: syscall.EIO})
	p := newProcess(t, dir, disk)
	if !p.cache.Stats().SSD.Kept {
		t.Skip("no memory outlives the process here")
	}
	p.fill()
	for life := range 2 {
		want := p.found()
		var readers sync.WaitGroup
		stop := make(chan struct{})
		for i := range 64 {
			readers.Go(func() {
				for n := i; ; n += 7 {
					select {
					case <-stop:
						return
					default:
					}
					if _, ok := p.rows.Get(n % rows); ok && n%rows%10 == 3 {
						t.Errorf("row %d, whose tag was invalidated, is found", n%rows)
						return
					}
				}
			})
		}
		if err := p.cache.Close(); !errors.Is(err, syscall.EIO) {
			t.Errorf("life %d: Close: %v, want the error of the index's file", life, err)
		}
		next := newProcess(t, dir, disk)
		close(stop)
		readers.Wait()
		dropped := int(p.cache.Stats().SSD.Dropped) // the disk was behind
		if n := next.found(); n > want || n < want-dropped || n == 0 {
			t.Errorf("life %d: %d rows are found, want %d but for %d that were dropped", life, n, want, dropped)
		}
		p = next
	}
	if err := p.cache.Close(); err != nil { // which saves, so that no memory is left
		t.Fatal(err)
	}
}
