package ssd

import (
	"errors"
	"sync"

	"github.com/firncache/firn/internal/registry"
	"github.com/firncache/firn/internal/ssd/files"
	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/ssd/index"
	"github.com/firncache/firn/internal/vfs"
)

// findMemory looks for the index that the last process left, which did not close
// the log that super describes. leftMemory is nil if there is none, or none that can be
// believed. It fails if the index is there and in use: the log is kept all the same.
func (t *Tier) findMemory(super *format.Superblock) error {
	boot := t.cfg.BootID()
	if t.keeper == nil || super.Memory == (format.MemoryID{}) || boot == "" || boot != super.BootID {
		return nil
	}
	m, err := files.OpenMemory(t.keeper, vfs.MemoryID(super.Memory), super.LogID)
	if m == nil || err != nil {
		return err
	}
	if !m.Describes(super) {
		m.Release()
		return nil
	}
	t.leftMemory = m
	return nil
}

// discardMemory removes the memory of a process that did not close, where the log is not
// kept.
func (t *Tier) discardMemory(id vfs.MemoryID) {
	if t.keeper == nil || id == (vfs.MemoryID{}) {
		return
	}
	if m, err := t.keeper.OpenMemory(id); err == nil {
		_ = errors.Join(m.Remove(), m.Close())
	}
}

// recoverers is how many goroutines look through an index that was left, or load
// one.
const recoverers = 2

// adoptMemory goes on with the index that was left. The records that the last process
// had in its own memory are not on the disk, and its entries go. If that index is for
// a log or a budget of another size than this one's, the entries move to memory of
// that size.
func (t *Tier) adoptMemory() {
	x, l, left := t.index, t.log, t.leftMemory
	from := x
	if left != x.Memory {
		from = index.New(x.ShardBits, left, true)
		l.CopySlotStates(left.SlotWords())
		t.registry.Copy(registry.New(left.Registry(), t.super.Seed))
		t.memory.allow(from.TableBytes())
	} else {
		x.Allowed.Store(x.Most)
	}
	there := l.OnDisk(left.Head.Flushed.Load())
	var group sync.WaitGroup
	for k := range recoverers {
		group.Go(func() {
			var kept []uint64
			for i := k; i < len(x.Shards); i += recoverers {
				kept = t.adoptShard(&x.Shards[i], &from.Shards[i], kept[:0], there)
			}
		})
	}
	group.Wait()
	l.EndAt(left.Head.Flushed.Load(), t.logFile, &t.ids, func(serial uint64, err error) {
		t.health.Fault("the last segment could not be sealed", "segment", serial, "error", err)
	})
	if from == x {
		x.Used.Store(x.TableBytes())
		x.Allowed.Store(x.Used.Load())
	}
	l.ResumeAt(left.Head.Next.Load())
}

// adoptShard makes the entries of a shard's table, in the same memory or another, the
// shard's. It returns kept, the entries that it used.
func (t *Tier) adoptShard(s, from *index.Shard, kept []uint64, there func(format.Location) bool) []uint64 {
	kept, whole := from.Survivors(kept, there)
	if s != from || !whole {
		s.Reset()
		t.fillShard(s, kept)
		return kept
	}
	s.Adopt(len(kept))
	for _, w := range kept {
		t.countLive(format.Entry(w))
	}
	return kept
}
