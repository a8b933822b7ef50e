package ssd

import (
	"encoding/binary"
	"sync"
	"sync/atomic"

	"github.com/firncache/firn/internal/vfs"
)

// noteKind says what a note in the journal tells.
type noteKind uint8

const (
	noteDead  noteKind = 1 + iota // records of id before lsn are dead
	noteFloor                     // segments before serial are dead
	noteDrop                      // the segment serial is dead
	noteReach                     // the log was written up to lsn: tombstones before it are not repeated here
)

// note is one entry of the journal. A note that was true once stays true, so
// that reading one twice, or one that is long outdated, does no harm.
type note struct {
	kind noteKind
	id   id
	at   uint64 // an LSN or a serial
}

const (
	noteLen     = 24
	journalName = "journal"
	minJournal  = 64 << 10
	maxJournal  = 16 << 20

	// kept are the notes at the end of an area that only floors and drops may
	// take: making room in the log must not wait for room in the journal.
	kept = 64
)

func (n note) put(b []byte, logID uint64, generation uint32) {
	binary.LittleEndian.PutUint64(b, uint64(n.id)|uint64(n.kind)<<56)
	binary.LittleEndian.PutUint64(b[8:], n.at)
	binary.LittleEndian.PutUint32(b[16:], generation)
	binary.LittleEndian.PutUint32(b[20:], origin{logID, uint64(generation)}.seal(checksum(0, b[:20])))
}

func parseNote(b []byte, logID uint64) (n note, generation uint32, ok bool) {
	generation = binary.LittleEndian.Uint32(b[16:])
	if binary.LittleEndian.Uint32(b[20:]) != (origin{logID, uint64(generation)}).seal(checksum(0, b[:20])) {
		return n, 0, false
	}
	w := binary.LittleEndian.Uint64(b)
	n = note{noteKind(w >> 56), id(w & (1<<idBits - 1)), binary.LittleEndian.Uint64(b[8:])}
	return n, generation, n.kind >= noteDead && n.kind <= noteReach
}

// journal tells, to whoever finds the files after the process died, what in the
// log is dead. The file has two areas, written in turn: when one is full, its
// notes are folded into the log, as tombstones, while the other fills.
//
// Notes are added under an index shard's lock, in memory, and written by the
// first who must wait for one, for all who came by then.
type journal struct {
	file vfs.File
	area int64 // bytes of one of the two

	mu    sync.Mutex
	added []note
	count uint64 // notes ever added

	written atomic.Uint64 // of those, how many the system has

	io         sync.Mutex // held while writing; what follows belongs to its holder
	freed      sync.Cond  // of io: an area was folded, or the journal failed
	logID      uint64
	generation uint32
	at         int64   // where in the area the next note goes
	dead       [2][]id // what each area says is dead, for folding
	folded     bool    // whether the other area may be overwritten
	taken      []note
	buf        []byte
	err        error

	wake func() // called when an area is full, to have it folded
}

func newJournal(file vfs.File, bytes int64, wake func()) *journal {
	j := &journal{file: file, area: bytes / 2 / noteLen * noteLen, wake: wake}
	j.freed.L = &j.io
	return j
}

// reset begins an empty journal for a new log.
func (j *journal) reset(logID uint64) {
	j.io.Lock()
	j.mu.Lock()
	j.added = j.added[:0]
	j.written.Store(j.count)
	j.mu.Unlock()
	j.logID, j.generation, j.at, j.folded, j.err = logID, 0, 0, true, nil
	j.dead[0], j.dead[1] = j.dead[0][:0], j.dead[1][:0]
	j.freed.Broadcast()
	j.io.Unlock()
}

// add notes something in memory, and returns what commit has to be asked for.
func (j *journal) add(n note) uint64 {
	j.mu.Lock()
	j.added = append(j.added, n)
	j.count++
	pos := j.count
	j.mu.Unlock()
	return pos
}

// commit returns when the notes up to pos will survive the process.
func (j *journal) commit(pos uint64) error {
	j.io.Lock()
	defer j.io.Unlock()
	for j.written.Load() < pos && j.err == nil {
		j.flush()
	}
	return j.err
}

// commitNow writes one note ahead of all others.
func (j *journal) commitNow(n note) error {
	j.io.Lock()
	defer j.io.Unlock()
	if j.at+noteLen > j.area {
		j.turn()
	}
	if j.err == nil {
		j.taken = append(j.taken[:0], n)
		j.write()
	}
	return j.err
}

// flush writes what was added, as far as the area reaches.
func (j *journal) flush() {
	most := int((j.area-j.at)/noteLen) - kept
	if most <= 0 {
		j.turn()
		return
	}
	j.mu.Lock()
	n := min(len(j.added), most)
	j.taken = append(j.taken[:0], j.added[:n]...)
	j.added = j.added[:copy(j.added, j.added[n:])]
	j.mu.Unlock()
	j.write()
	if j.err == nil {
		j.written.Add(uint64(n))
	}
}

// turn goes on in the other area, once it has been folded.
func (j *journal) turn() {
	for !j.folded && j.err == nil {
		j.wake()
		j.freed.Wait()
		if (j.area-j.at)/noteLen > kept {
			return // another has turned meanwhile
		}
	}
	if j.err != nil {
		return
	}
	j.generation++
	j.at, j.folded = 0, false
	j.dead[j.generation&1] = j.dead[j.generation&1][:0]
	j.wake()
}

// write appends the taken notes to the area. A failed write is tried once more,
// for it changes nothing to write the same bytes again.
func (j *journal) write() {
	j.buf = j.buf[:0]
	for _, n := range j.taken {
		j.buf = append(j.buf, make([]byte, noteLen)...)
		n.put(j.buf[len(j.buf)-noteLen:], j.logID, j.generation)
	}
	off := int64(j.generation&1)*j.area + j.at
	_, err := j.file.WriteAt(j.buf, off)
	if err != nil {
		_, err = j.file.WriteAt(j.buf, off)
	}
	if err != nil {
		j.err = err
		j.freed.Broadcast()
		return
	}
	j.at += int64(len(j.buf))
	for _, n := range j.taken {
		if n.kind == noteDead {
			j.dead[j.generation&1] = append(j.dead[j.generation&1], n.id)
		}
	}
}

// fail makes all who wait, now or later, return err.
func (j *journal) fail(err error) {
	j.io.Lock()
	if j.err == nil {
		j.err = err
	}
	j.freed.Broadcast()
	j.io.Unlock()
}

// unfolded is what the area that is not being written says is dead, if that
// still has to be folded.
func (j *journal) unfolded() (ids []id, generation uint32, ok bool) {
	j.io.Lock()
	defer j.io.Unlock()
	if j.folded || j.err != nil {
		return nil, 0, false
	}
	return append([]id(nil), j.dead[(j.generation+1)&1]...), j.generation, true
}

// foldDone frees the other area: the log has all that it said.
func (j *journal) foldDone(generation uint32) {
	j.io.Lock()
	if j.generation == generation {
		j.folded = true
		j.freed.Broadcast()
	}
	j.io.Unlock()
}

// read finds the notes of a log in the file, and makes the journal continue
// after the last. A note that was being written when the process died was not
// acknowledged: reading ends there.
func (j *journal) read(logID uint64) (notes []note, err error) {
	var area [2][]note
	var gen [2]uint32
	b := make([]byte, 2*j.area)
	if _, err := j.file.ReadAt(b, 0); err != nil {
		return nil, err
	}
	for i := range area {
		for at := int64(0); at+noteLen <= j.area; at += noteLen {
			n, g, ok := parseNote(b[int64(i)*j.area+at:][:noteLen], logID)
			if !ok || len(area[i]) > 0 && g != gen[i] || int(g&1) != i {
				break
			}
			gen[i] = g
			area[i] = append(area[i], n)
		}
	}
	last := 0
	if len(area[1]) > 0 && (len(area[0]) == 0 || gen[1] > gen[0]) {
		last = 1
	}
	j.io.Lock()
	defer j.io.Unlock()
	j.logID, j.generation, j.err = logID, gen[last], nil
	j.at = int64(len(area[last])) * noteLen
	j.folded = len(area[1-last]) == 0
	for i := range area {
		j.dead[i] = j.dead[i][:0]
		for _, n := range area[i] {
			if n.kind == noteDead {
				j.dead[i] = append(j.dead[i], n.id)
			}
		}
	}
	return append(area[1-last], area[last]...), nil
}

// bytes is the memory that the journal may take.
func journalMemory(file int64) int64 { return file/noteLen*8 + file/2 }
