package ssd

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/firncache/firn/internal/offheap"
	"github.com/firncache/firn/internal/registry"
	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/vfs"
)

var errNoSnapshotSpace = errors.New("ssd: the index is larger than the space that is kept for it")

// saveSnapshot writes the index to a file of its own, and returns its number,
// which the superblock has to have for the snapshot to be believed. Nothing is
// written meanwhile.
func (t *Tier) saveSnapshot() (number uint64, err error) {
	x := t.index
	s := format.Snapshot{LogID: t.super.LogID, Number: rand.Uint64() | 1, Slots: t.log.slotStates(), Shards: make([]format.ShardPart, len(x.shards))}
	s.Forgot, s.Numbers = t.numbers()
	if size := format.SnapshotBytes(len(s.Slots), len(s.Shards), len(s.Numbers), int64(x.len())); size > t.cfg.maxSnapshot() {
		return 0, fmt.Errorf("%w: %d of %d bytes", errNoSnapshotSpace, size, t.cfg.maxSnapshot())
	}
	_ = t.cfg.FS.Remove(format.SnapshotName) // lest there be two for a moment
	f, err := t.cfg.FS.Open(format.SnapshotTempName, vfs.OpenOptions{Create: true})
	if err != nil {
		return 0, err
	}
	defer func() {
		err = errors.Join(err, f.Close())
		if err != nil {
			_ = t.cfg.FS.Remove(format.SnapshotTempName)
		}
	}()
	if err := f.Truncate(0); err != nil {
		return 0, err
	}
	if err := t.saveShards(f, &s); err != nil {
		return 0, err
	}
	if _, err := f.WriteAt(s.Encode(), 0); err != nil {
		return 0, err
	}
	if err := f.Sync(); err != nil {
		return 0, err
	}
	if err := t.cfg.FS.Rename(format.SnapshotTempName, format.SnapshotName); err != nil {
		return 0, err
	}
	return s.Number, t.cfg.FS.SyncDir() // before the superblock says that it is there
}

// numbers are those of the registry.
func (t *Tier) numbers() (forgot bool, all []format.Number) {
	for id, n := range t.registry.All {
		all = append(all, format.Number{ID: id, Number: n})
	}
	return t.registry.Forgot(), all // which it may have done meanwhile
}

// setNumbers gives the empty registry those of a snapshot.
func (t *Tier) setNumbers(s *format.Snapshot) {
	t.registry.Restore(s.Forgot, func(yield func(registry.ID, uint64) bool) {
		for _, n := range s.Numbers {
			if !yield(n.ID, n.Number) {
				return
			}
		}
	})
}

// saveShards writes the entries of all shards, and notes how many there are of each.
func (t *Tier) saveShards(f vfs.File, s *format.Snapshot) error {
	w := bufio.NewWriterSize(io.NewOffsetWriter(f, s.EntriesAt()), 1<<20)
	packed := make([]uint64, 0, 16<<10)
	for i := range t.index.shards {
		packed = t.index.shards[i].pack(packed[:0])
		b := bytesOf(packed)
		s.Shards[i] = format.ShardPart{Entries: uint32(len(packed)), Checksum: format.Checksum(0, b)}
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	return w.Flush()
}

// bytesOf is a view of words as they stand in memory; the files are little-endian.
func bytesOf(words []uint64) []byte {
	if len(words) == 0 {
		return nil
	}
	if !bigEndian {
		return offheap.WordBytes(words)
	}
	b := make([]byte, 0, 8*len(words))
	for _, w := range words {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

var bigEndian = binary.NativeEndian.Uint16([]byte{0, 1}) == 1

// loadSnapshot fills the empty index from the snapshot with a number, and gives the
// log the slots: which segments it has.
func (t *Tier) loadSnapshot(number uint64) error {
	f, err := t.cfg.FS.Open(format.SnapshotName, vfs.OpenOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	size, err := f.Size()
	if err != nil {
		return err
	}
	s, err := format.ReadSnapshot(f, size, &t.super.Superblock)
	if err != nil {
		return err
	}
	if s.Number != number {
		return format.ErrCorrupt
	}
	t.log.setSlotStates(s.Slots)
	t.setNumbers(s)
	t.memory.allow((size-s.EntriesAt())*5/4 + 256*int64(len(s.Shards)))
	if err := t.loadShards(f, s); err != nil {
		return err
	}
	t.log.resumeAt(t.super.NextSegment)
	return nil
}

// loadShards reads all shards, some megabytes at once, in a few goroutines.
func (t *Tier) loadShards(f vfs.File, s *format.Snapshot) error {
	const atOnce = 1 << 20
	offs := s.Offsets()
	var group sync.WaitGroup
	errs := make([]error, recoverers)
	next := make(chan [2]int)
	for k := range recoverers {
		group.Go(func() {
			var b []byte
			for r := range next {
				if errs[k] == nil {
					b, errs[k] = t.loadRange(f, b, s.Shards, offs, r[0], r[1])
				}
			}
		})
	}
	for i := 0; i < len(offs)-1; {
		j := i + 1
		for j < len(offs)-1 && offs[j+1]-offs[i] <= atOnce {
			j++
		}
		next <- [2]int{i, j}
		i = j
	}
	close(next)
	group.Wait()
	return errors.Join(errs...)
}

// loadRange reads the shards from i up to j into the index. It returns the
// buffer that it used.
func (t *Tier) loadRange(f vfs.File, b []byte, parts []format.ShardPart, offs []int64, i, j int) ([]byte, error) {
	n := int(offs[j] - offs[i])
	if cap(b) < n {
		b = make([]byte, n)
	}
	b = b[:n]
	if _, err := f.ReadAt(b, offs[i]); err != nil {
		return b, err
	}
	var words []uint64
	there := t.log.onDisk(math.MaxUint64)
	for ; i < j; i++ {
		part := b[:offs[i+1]-offs[i]]
		b = b[len(part):]
		if format.Checksum(0, part) != parts[i].Checksum {
			return b, format.ErrCorrupt
		}
		words = words[:0]
		for ; len(part) > 0; part = part[8:] {
			words = append(words, binary.LittleEndian.Uint64(part))
		}
		if !t.index.Ascend(words) || slices.ContainsFunc(words, func(w uint64) bool { return !there(t.index.Location(format.Entry(w))) }) {
			return b, format.ErrCorrupt
		}
		t.fillShard(&t.index.shards[i], words)
	}
	return b[:0], nil
}
