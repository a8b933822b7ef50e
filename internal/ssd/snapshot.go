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
	"github.com/firncache/firn/internal/vfs"
)

const (
	snapshotMagic     = "firnsnp1"
	snapshotHeaderLen = 64
	snapshotTemp      = "snapshot.new"
)

var errNoIndexMemory = errors.New("ssd: the index does not fit into memory")

var errNoSnapshotSpace = errors.New("ssd: the index is larger than the space that is kept for it")

// saveSnapshot writes the index to a file of its own, and returns its number,
// which the superblock has to have for the snapshot to be believed. Nothing is
// written meanwhile.
func (t *Tier) saveSnapshot() (number uint64, err error) {
	x := t.index
	dirLen := 8 * len(x.shards)
	if size := int64(snapshotHeaderLen+dirLen) + 8*int64(x.len()); size > t.cfg.Bytes/snapshotShare {
		return 0, fmt.Errorf("%w: %d of %d bytes", errNoSnapshotSpace, size, t.cfg.Bytes/snapshotShare)
	}
	_ = t.cfg.FS.Remove(snapshotName) // lest there be two for a moment
	f, err := t.cfg.FS.Open(snapshotTemp, vfs.How{Create: true})
	if err != nil {
		return 0, err
	}
	defer func() {
		err = errors.Join(err, f.Close())
		if err != nil {
			_ = t.cfg.FS.Remove(snapshotTemp)
		}
	}()
	number = rand.Uint64() | 1
	if err := f.Truncate(0); err != nil {
		return 0, err
	}
	dir := make([]byte, dirLen)
	w := bufio.NewWriterSize(io.NewOffsetWriter(f, int64(snapshotHeaderLen+dirLen)), 1<<20)
	packed := make([]uint64, 0, 16<<10)
	for i := range x.shards {
		s := &x.shards[i]
		packed = packed[:0]
		s.mu.Lock() // reads may yet be under way, and count
		for _, e := range s.slots {
			if e != 0 {
				packed = append(packed, e)
			}
		}
		s.mu.Unlock()
		b := bytesOf(packed)
		binary.LittleEndian.PutUint32(dir[8*i:], uint32(len(packed)))
		binary.LittleEndian.PutUint32(dir[8*i+4:], checksum(0, b))
		if _, err := w.Write(b); err != nil {
			return 0, err
		}
	}
	if err := w.Flush(); err != nil {
		return 0, err
	}
	head := make([]byte, snapshotHeaderLen)
	copy(head, snapshotMagic)
	binary.LittleEndian.PutUint64(head[8:], t.super.logID)
	binary.LittleEndian.PutUint64(head[16:], number)
	binary.LittleEndian.PutUint32(head[24:], uint32(x.shardBits))
	binary.LittleEndian.PutUint32(head[28:], checksum(0, dir))
	binary.LittleEndian.PutUint32(head[60:], checksum(0, head[:60]))
	if _, err := f.WriteAt(append(head, dir...), 0); err != nil {
		return 0, err
	}
	if err := f.Sync(); err != nil {
		return 0, err
	}
	if err := t.cfg.FS.Rename(snapshotTemp, snapshotName); err != nil {
		return 0, err
	}
	return number, t.cfg.FS.SyncDir() // before the superblock says that it is there
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

// loadSnapshot fills the empty index from the snapshot with a number.
func (t *Tier) loadSnapshot(number uint64) error {
	x := t.index
	f, err := t.cfg.FS.Open(snapshotName, vfs.How{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	dirLen := 8 * len(x.shards)
	b := make([]byte, snapshotHeaderLen+dirLen)
	if _, err := f.ReadAt(b, 0); err != nil {
		return err
	}
	head, dir := b[:snapshotHeaderLen], b[snapshotHeaderLen:]
	if string(head[:8]) != snapshotMagic || binary.LittleEndian.Uint32(head[60:]) != checksum(0, head[:60]) ||
		binary.LittleEndian.Uint64(head[8:]) != t.super.logID || binary.LittleEndian.Uint64(head[16:]) != number ||
		binary.LittleEndian.Uint32(head[24:]) != uint32(x.shardBits) || binary.LittleEndian.Uint32(head[28:]) != checksum(0, dir) {
		return errCorrupt
	}
	size, err := f.Size()
	if err != nil {
		return err
	}
	at, offs := int64(len(b)), make([]int64, len(x.shards)+1)
	for i := range x.shards {
		offs[i] = at
		at += 8 * int64(binary.LittleEndian.Uint32(dir[8*i:]))
	}
	if offs[len(x.shards)] = at; at != size {
		return errCorrupt
	}
	t.allow((at-int64(len(b)))*5/4 + 256*int64(len(x.shards)))
	return t.loadShards(f, dir, offs)
}

// loadShards reads all shards, some megabytes at once, in a few goroutines.
func (t *Tier) loadShards(f vfs.File, dir []byte, offs []int64) error {
	const atOnce = 1 << 20
	var group sync.WaitGroup
	errs := make([]error, recoverers)
	next := make(chan [2]int)
	for k := range recoverers {
		group.Go(func() {
			var b []byte
			for r := range next {
				if errs[k] == nil {
					b, errs[k] = t.loadRange(f, b, dir, offs, r[0], r[1])
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
func (t *Tier) loadRange(f vfs.File, b, dir []byte, offs []int64, i, j int) ([]byte, error) {
	n := int(offs[j] - offs[i])
	if cap(b) < n {
		b = make([]byte, n)
	}
	b = b[:n]
	if _, err := f.ReadAt(b, offs[i]); err != nil {
		return b, err
	}
	var words []uint64
	for ; i < j; i++ {
		part := b[:offs[i+1]-offs[i]]
		b = b[len(part):]
		if checksum(0, part) != binary.LittleEndian.Uint32(dir[8*i+4:]) {
			return b, errCorrupt
		}
		words = words[:0]
		for ; len(part) > 0; part = part[8:] {
			words = append(words, binary.LittleEndian.Uint64(part))
		}
		if !t.placed(words) {
			return b, errCorrupt
		}
		if !t.index.load(&t.index.shards[i], words) {
			return b, errNoIndexMemory
		}
	}
	return b[:0], nil
}

// placed reports whether entries name places that the log has.
func (t *Tier) placed(words []uint64) bool {
	for _, w := range words {
		e := entry(w)
		slot, off := t.log.place(t.index.location(e))
		if t.index.grave(e) || slot >= len(t.log.slots) || off < segmentHeaderLen || t.log.slots[slot].serial.Load() == 0 {
			return false
		}
	}
	return true
}
