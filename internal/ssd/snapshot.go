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
	"github.com/firncache/firn/internal/vfs"
)

const (
	snapshotMagic     = "firnsnp1"
	snapshotHeaderLen = 64
	snapshotTemp      = "snapshot.new"
)

var errNoSnapshotSpace = errors.New("ssd: the index is larger than the space that is kept for it")

// saveSnapshot writes the index to a file of its own, and returns its number,
// which the superblock has to have for the snapshot to be believed. Nothing is
// written meanwhile.
func (t *Tier) saveSnapshot() (number uint64, err error) {
	x := t.index
	dirLen := 8 * len(x.shards)
	slots := bytesOf(t.log.slotNumbers())
	begin := snapshotHeaderLen + len(slots) + dirLen
	if size := int64(begin) + 8*int64(x.len()); size > t.snapshotMost() {
		return 0, fmt.Errorf("%w: %d of %d bytes", errNoSnapshotSpace, size, t.snapshotMost())
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
	w := bufio.NewWriterSize(io.NewOffsetWriter(f, int64(begin)), 1<<20)
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
	binary.LittleEndian.PutUint32(head[32:], uint32(len(t.log.slots)))
	binary.LittleEndian.PutUint32(head[36:], checksum(0, slots))
	binary.LittleEndian.PutUint32(head[60:], checksum(0, head[:60]))
	if _, err := f.WriteAt(slices.Concat(head, slots, dir), 0); err != nil {
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

// snapshotHead is the beginning of a snapshot, once its checksum was right.
type snapshotHead struct {
	logID, number uint64
	shardBits     uint32
	dirCRC        uint32
	slots         uint32
	slotsCRC      uint32
}

func parseSnapshotHead(b []byte) (h snapshotHead, ok bool) {
	if len(b) != snapshotHeaderLen || string(b[:8]) != snapshotMagic || binary.LittleEndian.Uint32(b[60:]) != checksum(0, b[:60]) {
		return h, false
	}
	return snapshotHead{
		logID: binary.LittleEndian.Uint64(b[8:]), number: binary.LittleEndian.Uint64(b[16:]),
		shardBits: binary.LittleEndian.Uint32(b[24:]), dirCRC: binary.LittleEndian.Uint32(b[28:]),
		slots: binary.LittleEndian.Uint32(b[32:]), slotsCRC: binary.LittleEndian.Uint32(b[36:]),
	}, true
}

// tablesLen is the length of what stands between the header and the entries.
func (h *snapshotHead) tablesLen() int64 { return slotWordsLen*int64(h.slots) + 8<<h.shardBits }

// tables are that: what the slots have, and the directory of the shards.
func (h *snapshotHead) tables(b []byte) (slots, dir []byte, ok bool) {
	slots, dir = b[:slotWordsLen*int64(h.slots)], b[slotWordsLen*int64(h.slots):]
	return slots, dir, checksum(0, slots) == h.slotsCRC && checksum(0, dir) == h.dirCRC
}

// loadSnapshot fills the empty index from the snapshot with a number, and tells the
// log which segments it has.
func (t *Tier) loadSnapshot(number uint64) error {
	x := t.index
	f, err := t.cfg.FS.Open(snapshotName, vfs.How{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	b := make([]byte, snapshotHeaderLen)
	if _, err := f.ReadAt(b, 0); err != nil {
		return err
	}
	h, ok := parseSnapshotHead(b)
	if !ok || h.logID != t.super.logID || h.number != number || h.shardBits != uint32(x.shardBits) || h.slots > uint32(len(t.log.slots)) {
		return errCorrupt
	}
	b = make([]byte, h.tablesLen())
	if _, err := f.ReadAt(b, snapshotHeaderLen); err != nil {
		return err
	}
	slots, dir, ok := h.tables(b)
	if !ok {
		return errCorrupt
	}
	size, err := f.Size()
	if err != nil {
		return err
	}
	begin := snapshotHeaderLen + h.tablesLen()
	at, offs := begin, make([]int64, len(x.shards)+1)
	for i := range x.shards {
		offs[i] = at
		at += 8 * int64(binary.LittleEndian.Uint32(dir[8*i:]))
	}
	if offs[len(x.shards)] = at; at != size {
		return errCorrupt
	}
	t.log.setSlotNumbers(slots)
	t.allow((at-begin)*5/4 + 256*int64(len(x.shards)))
	if err := t.loadShards(f, dir, offs); err != nil {
		return err
	}
	t.log.goOn(t.super.nextSeg)
	return nil
}

// slotNumbers are those of slotWords, for each slot.
func (l *log) slotNumbers() []uint64 {
	numbers := make([]uint64, 0, slotWordsLen/8*len(l.words))
	for i := range l.words {
		w := &l.words[i]
		numbers = append(numbers, w.serial.Load(), w.written.Load(), w.until.Load())
	}
	return numbers
}

func (l *log) setSlotNumbers(b []byte) {
	for i := range len(b) / slotWordsLen {
		w, b := &l.words[i], b[slotWordsLen*i:]
		w.serial.Store(binary.LittleEndian.Uint64(b))
		w.written.Store(binary.LittleEndian.Uint64(b[8:]))
		w.until.Store(binary.LittleEndian.Uint64(b[16:]))
	}
}

// loadShards reads all shards, some megabytes at once, in a few goroutines.
func (t *Tier) loadShards(f vfs.File, dir []byte, offs []int64) error {
	const atOnce = 1 << 20
	var group sync.WaitGroup
	errs := make([]error, attachers)
	next := make(chan [2]int)
	for k := range attachers {
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
	there := t.log.onDisk(math.MaxUint64)
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
		if !t.index.ascend(words) || slices.ContainsFunc(words, func(w uint64) bool { return !there(t.index.location(entry(w))) }) {
			return b, errCorrupt
		}
		t.load(&t.index.shards[i], words)
	}
	return b[:0], nil
}
