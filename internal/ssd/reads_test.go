package ssd

import (
	"bytes"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/vfs"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// However many batches wait for the disk, the buffers of what they have read do
// not grow with their number.
func TestBatchesShareMemory(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const batches, each = 16, 100
		w, f := onDisk(t, batches*each, func(fs vfs.FS, w *world) Config {
			w.most = 3000
			cfg := testConfig(fs, w)
			cfg.Bytes = 8 << 20
			return cfg
		})
		var held []int64 // the first read of each batch: its others come back
		for i := range batches {
			ref := w.spotOf(t, w.key(i*each))
			held = append(held, w.placeOf(&ref))
		}
		stuck := f.Inject(vfstest.Rule{On: vfstest.OpRead, Name: format.LogName, Block: true, Match: func(op vfstest.Op) bool {
			for _, at := range held {
				if op.Off <= at && at < op.Off+op.Len {
					return true
				}
			}
			return false
		}})
		var group sync.WaitGroup
		for i := range batches {
			group.Go(func() {
				w.many(background, i*each, (i+1)*each, func(err error) {
					if err != nil {
						t.Error(err)
					}
				})
			})
			stuck.AwaitBlocked(i + 1)
		}
		synctest.Wait()
		const chunk = 64 << 10                      // what the pool takes from the system at once, for each of five sizes
		most := 4*w.tier.cfg.readMemory() + 5*chunk // 1 + 1/2 + … + 1/16 is 3.4
		if got := w.tier.reader.Bytes(); got > most || got < most/4 {
			t.Errorf("%d batches hold %d bytes: want at most %d", batches, got, most)
		}
		stuck.Remove()
		group.Wait()
		w.close(t)
	})
}

// However much a batch reads, the buffers of what is under way take no more
// memory than the tier has counted for them.
func TestManyReadsInWindows(t *testing.T) {
	t.Parallel()
	const keys = 300
	w, mem := started(t, 1, testConfig)
	w.most = 5000
	w.fill(t, keys)
	w.restart(t, testConfig(mem, w)) // nothing of the log is in memory
	defer w.close(t)

	var many Many
	var read int64
	for i := range keys {
		key := w.key(i)
		many.Queries = append(many.Queries, Query{Key: key, Hash: w.hasher.Hash(key)})
	}
	var most int64
	found := map[int]int{}
	w.tier.GetMany(background, &many, func(i int, f Found, err error) {
		found[i]++
		if err != nil {
			t.Errorf("%s: %v", w.key(i), err)
		}
		read += int64(len(f.Value))
		most = max(most, w.tier.reader.Bytes())
	})
	if len(found) != keys {
		t.Errorf("%d keys were answered, want %d", len(found), keys)
	}
	for i, n := range found {
		if n != 1 {
			t.Errorf("%s was answered %d times, want once", w.key(i), n)
		}
	}
	const chunk = 64 << 10 // what the buffers' pool takes from the system at once, for each size
	if limit := w.tier.cfg.readMemory() + 2*chunk; most > limit || read < 2*limit {
		t.Errorf("for values of %d bytes, buffers took %d bytes: want at most %d", read, most, limit)
	}
}

// An iteration holds no segment in memory while the user looks at a record.
func TestAllHoldsNoSegment(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, _ := started(t, 1, testConfig)
		w.fill(t, 10)
		n := 0
		w.tier.All(func(_ uint64, key, value []byte) bool {
			if _, err := seqOf(key, value); err != nil {
				t.Errorf("%s: %v", key, err)
			}
			w.tier.log.Mu.Lock()
			for _, s := range w.tier.log.Memory {
				if s.Pins != 0 {
					t.Errorf("segment %d is pinned", s.Serial)
				}
			}
			w.tier.log.Mu.Unlock()
			n++
			return true
		})
		if n != 10 {
			t.Errorf("%d records", n)
		}
		w.close(t)
	})
}

// The buffer of a segment that somebody reads in is not used for another, however
// much is appended meanwhile.
func TestPinnedSegmentKeepsItsBytes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, _ := started(t, 1, testConfig)
		w.put(t, w.key(0))
		l := w.tier.log
		l.Mu.Lock()
		slot, serial := l.Open.Slot, l.Open.Serial
		l.Mu.Unlock()
		seg := l.Pin(slot, serial)
		begin, end := l.Tail.Load(), seg.End
		before := bytes.Clone(seg.Buf[:end])
		for i := 1; l.Tail.Load()-begin < 4*uint64(len(seg.Buf)) && i < 10_000; i++ {
			w.set(w.key(i), 0)
			if !w.demote(w.key(i)) {
				time.Sleep(time.Second) // until there is room
			}
		}
		l.Mu.Lock()
		done := seg.Done
		l.Mu.Unlock()
		if !done {
			t.Fatal("the segment was not written: its buffer was wanted by nobody")
		}
		if !bytes.Equal(seg.Buf[:end], before) {
			t.Error("the bytes changed while they were read")
		}
		l.Unpin(seg)
		w.close(t)
	})
}
