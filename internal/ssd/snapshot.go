package ssd

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"

	"github.com/firncache/firn/internal/offheap"
	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/vfs"
)

var errNoSnapshotSpace = errors.New("the index is larger than the space beside the log")

// saveSnapshot writes the index to a file of its own, and returns its number,
// which the superblock has to have for the snapshot to be believed. Nothing is
// written meanwhile.
func (t *Tier) saveSnapshot() (number uint64, err error) {
	x := t.index
	s := format.Snapshot{LogID: t.super.LogID, Number: rand.Uint64() | 1, Slots: t.log.SlotStates(), Shards: make([]format.ShardPart, len(x.Shards))}
	s.Clocks = t.registry.Save()
	room := t.cfg.Bytes - 2*format.SuperblockBytes - t.fileBytes.Load()
	if size := format.SnapshotBytes(len(s.Slots), len(s.Shards), len(s.Clocks), int64(x.Len())); size > room {
		return 0, fmt.Errorf("%w: %d of %d bytes", errNoSnapshotSpace, size, room)
	}
	_ = t.cfg.FS.Remove(format.SnapshotName) // so that there are never two
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
	b := s.Encode()
	if _, err := f.WriteAt(b, 0); err != nil {
		return 0, err
	}
	if _, err := f.WriteAt(s.Front(b), s.Fronts()[1]); err != nil {
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

// saveShards writes the entries of all shards, and notes how many there are of each.
func (t *Tier) saveShards(f vfs.File, s *format.Snapshot) error {
	w := bufio.NewWriterSize(io.NewOffsetWriter(f, s.EntriesAt()), 1<<20)
	packed := make([]uint64, 0, 16<<10)
	for i := range t.index.Shards {
		packed = t.index.Shards[i].Pack(packed[:0])
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
	saved := t.super.Superblock
	saved.Segments = t.foundSegments
	s, err := format.ReadSnapshot(f, size, &saved)
	if err != nil {
		return err
	}
	if s.Number != number {
		return format.ErrCorrupt
	}
	for _, at := range s.Damaged {
		t.count.corrupt.Add(1)
		t.health.Fault("the snapshot is damaged", "offset", at)
	}
	t.log.SetSlotStates(s.Slots)
	if !t.registry.Restore(s.Clocks) {
		t.health.Fault("the registry is lost: with it go values with tags, and what is in namespaces")
	}
	t.memory.allow((size-s.EntriesAt())*5/4 + 256*int64(len(s.Shards)))
	t.loadShards(f, s)
	t.log.ResumeAt(t.super.NextSegment)
	return nil
}

// loadShards reads all shards, some megabytes at once, in a few goroutines.
func (t *Tier) loadShards(f vfs.File, s *format.Snapshot) {
	const atOnce = 1 << 20
	offs := s.Offsets()
	var group sync.WaitGroup
	next := make(chan [2]int)
	for range recoverers {
		group.Go(func() {
			l := shardLoader{Tier: t, file: f, parts: s.Shards, offs: offs}
			for r := range next {
				l.load(r[0], r[1])
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
}
