package ssd

import (
	"encoding/binary"
	"errors"
	"slices"
	"sync"

	"github.com/firncache/firn/internal/vfs"
)

// noteKind says what a note in the journal tells.
type noteKind uint8

const (
	noteDead  noteKind = 1 + iota // records of id before lsn are dead
	noteFloor                     // segments before serial are dead
	noteDrop                      // the segment serial is dead; id tells how far back the one before it is
	noteReach                     // the log was written up to lsn: tombstones before it are not repeated here
	noteTime                      // it was this time, in milliseconds since 1970
)

// note is one entry of the journal. A note that was true once stays true, so
// that reading one twice, or one that is long outdated, does no harm.
type note struct {
	kind noteKind
	id   id
	at   uint64 // an LSN, a serial or a time
}

const (
	noteLen     = 24
	journalName = "journal"
	minJournal  = 64 << 10
	maxJournal  = 16 << 20

	// kept are the notes at the end of an area that others than dead ids may take:
	// making room in the log must not wait for room in the journal. The last of
	// them are for what ends a fold, which must not wait for itself.
	kept = 64
	last = mostDropped + 4

	// mostWriters bounds how many are in the system with their notes, each with a
	// thread: a disk that stops holds no more than these.
	mostWriters = 64
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
	return n, generation, n.kind >= noteDead && n.kind <= noteTime
}

// journal tells, to whoever finds the files after the process died, what in the
// log is dead. The file has two areas, filled in turn: when one is full, its
// notes are folded into the log, as tombstones, while the other fills.
//
// Whoever needs a note written takes a place for it under the lock, and writes it
// without: nobody waits for another's write. So the notes in an area may have
// gaps, where the process died before one was written; those were not
// acknowledged.
//
// A gap is zeros, or a note that an earlier turn left: a log begins with a
// journal of zeros and one note. What is neither was a note and is damaged; and
// without the one the journal is another file. Nobody knows then what is dead.
type journal struct {
	file vfs.File
	area int64 // bytes of one of the two

	mu         sync.Mutex
	changed    sync.Cond // of mu: an area was folded, its last write came back, the journal failed or began
	beginning  bool      // the file is being made empty: nothing else is written
	standing   standing
	logID      uint64
	generation uint32  // of the area that is filling; its lowest bit tells which
	at         int64   // where in it the next note goes
	under      [2]int  // writes under way in each area
	waiting    int     // who waits for changed
	dead       [2][]id // what each area says is dead, for folding
	folded     bool    // whether the other area's notes are needed no more
	err        error

	bufs sync.Pool
	wake func() // called when an area is full, to have it folded
}

func newJournal(file vfs.File, bytes int64, wake func()) *journal {
	j := &journal{file: file, area: bytes / 2 / noteLen * noteLen, wake: wake}
	j.changed.L = &j.mu
	j.bufs.New = func() any { return new([]byte) }
	return j
}

// standing is what notes say that must outlive the area which they are in.
type standing struct {
	floor, reach, time uint64
	dropped            []note // none of a segment below the floor
}

// mostDropped bounds how many segments are dropped one by one.
const mostDropped = kept / 2

var (
	errMostDropped = errors.New("ssd: too many segments were dropped")
	errJournalFull = errors.New("ssd: no room in the journal until it has been folded")
)

func (s *standing) add(n note) {
	switch n.kind {
	case noteFloor:
		s.floor = max(s.floor, n.at)
		s.dropped = slices.DeleteFunc(s.dropped, func(d note) bool { return d.at < s.floor })
	case noteDrop:
		if n.at >= s.floor && !slices.ContainsFunc(s.dropped, func(d note) bool { return d.at == n.at }) {
			s.dropped = append(s.dropped, n)
		}
	case noteReach:
		s.reach = max(s.reach, n.at)
	case noteTime:
		s.time = max(s.time, n.at)
	}
}

func (s *standing) notes() []note {
	notes := []note{{kind: noteFloor, at: s.floor}, {kind: noteReach, at: s.reach}, {kind: noteTime, at: s.time}}
	return append(notes, s.dropped...)
}

// dropNote drops a segment. It tells which one was written before, for the
// segment's own header, which says so, may not be there when that is asked.
func dropNote(serial, prev uint64) note {
	return note{kind: noteDrop, id: id(min(serial-prev, 1<<idBits-1)), at: serial}
}

// prev is the serial of the segment before the one that the note drops, 0 if it
// was the first; false if that is not known.
func (n note) prev() (serial uint64, known bool) {
	back := uint64(n.id)
	return n.at - back, back > 0 && back <= n.at && back < 1<<idBits-1
}

// reset begins an empty journal for a new log. Notes of the old one that are
// waiting go into the new one: they do no harm there.
func (j *journal) reset(logID uint64) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.beginning = true
	for j.writers() > 0 {
		j.changed.Wait()
	}
	j.mu.Unlock()
	err := j.blank(logID)
	j.mu.Lock()
	j.logID, j.generation, j.at, j.folded, j.err = logID, 0, noteLen, true, err
	j.dead[0], j.dead[1] = j.dead[0][:0], j.dead[1][:0]
	j.standing = standing{}
	j.beginning = false
	j.changed.Broadcast()
	return err
}

// blank fills the file with zeros, behind the first note of a log. It does so a
// block at a time: ext4 keeps what is written at once in one large folio, and
// looks through all blocks of a folio at every small write to it.
func (j *journal) blank(logID uint64) error {
	b := make([]byte, blockBytes)
	for off := int64(0); off < 2*j.area; off += int64(len(b)) {
		b = b[:min(int64(len(b)), 2*j.area-off)]
		if _, err := j.file.WriteAt(b, off); err != nil {
			return err
		}
	}
	b = b[:noteLen]
	note{kind: noteFloor}.put(b, logID, 0)
	_, err := j.file.WriteAt(b, 0)
	return err
}

// commit returns when the notes will survive the process. They are facts by now:
// it does not matter in what order they are written. It waits for room, which
// the keeper makes by folding, until the journal fails: see watchdog.
func (j *journal) commit(notes ...note) error { return j.commitAll(notes, kept, true) }

// commitNow is commit for those whom the keeper may have to wait for: without
// room it fails with errJournalFull.
func (j *journal) commitNow(notes ...note) error { return j.commitAll(notes, last, false) }

// commitSpare is commitNow that leaves what is kept for better.
func (j *journal) commitSpare(notes ...note) error { return j.commitAll(notes, kept, false) }

// commitLast is commitNow that leaves no room.
func (j *journal) commitLast(notes ...note) error { return j.commitAll(notes, 0, false) }

func (j *journal) commitAll(notes []note, leave int, wait bool) error {
	for len(notes) > 0 {
		n, err := j.commitSome(notes, leave, wait)
		if err != nil {
			return err
		}
		notes = notes[n:]
	}
	return nil
}

// commitSome writes as many notes as the area has room for, beside those that it
// has to leave.
func (j *journal) commitSome(notes []note, leave int, wait bool) (n int, err error) {
	j.mu.Lock()
	room := j.room() - leave
	for (room <= 0 || j.beginning || j.writers() >= mostWriters) && j.err == nil {
		switch {
		case j.beginning || room > 0:
			j.wait()
		case !wait && !j.folded:
			j.mu.Unlock()
			return 0, errJournalFull
		default:
			j.turn()
		}
		room = j.room() - leave
	}
	if j.err != nil {
		defer j.mu.Unlock()
		return 0, j.err
	}
	n = min(len(notes), room)
	logID, generation := j.logID, j.generation
	area := generation & 1
	off := int64(area)*j.area + j.at
	j.at += int64(n) * noteLen
	j.under[area]++
	for _, n := range notes[:n] {
		if n.kind == noteDead {
			j.dead[area] = append(j.dead[area], n.id)
		}
		j.standing.add(n) // before it is written: a fold must not miss it
	}
	j.mu.Unlock()

	err = j.write(notes[:n], off, logID, generation)

	j.mu.Lock()
	if j.under[area]--; j.under[area] == 0 || j.writers() == mostWriters-1 || err != nil {
		j.changed.Broadcast()
	}
	if err != nil && j.err == nil && j.logID == logID {
		j.err = err
	}
	j.mu.Unlock()
	return n, err
}

// room is how many notes the area can still take.
func (j *journal) room() int { return int((j.area - j.at) / noteLen) }

// turn goes on in the other area once it has been folded, and nobody writes
// there any more.
func (j *journal) turn() {
	other := (j.generation + 1) & 1
	if !j.folded || j.under[other] != 0 {
		j.wake()
		j.wait()
		return
	}
	j.generation++
	j.at, j.folded = 0, false
	j.dead[other] = j.dead[other][:0]
	j.wake()
}

// writers is how many notes, or some at once, are being written.
func (j *journal) writers() int { return j.under[0] + j.under[1] }

// wait waits for a change. The caller holds mu, and gives it up meanwhile.
func (j *journal) wait() {
	j.waiting++
	j.changed.Wait()
	j.waiting--
}

// waitedFor reports whether somebody waits for a note to be written, or for a
// place for it.
func (j *journal) waitedFor() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.waiting+j.writers() > 0
}

// write writes notes at their place. A failed write is tried once more, for it
// changes nothing to write the same bytes again.
func (j *journal) write(notes []note, off int64, logID uint64, generation uint32) error {
	buf := j.bufs.Get().(*[]byte)
	defer j.bufs.Put(buf)
	b := slices.Grow((*buf)[:0], len(notes)*noteLen)[:len(notes)*noteLen]
	*buf = b
	for i, n := range notes {
		n.put(b[i*noteLen:], logID, generation)
	}
	_, err := j.file.WriteAt(b, off)
	if err != nil {
		_, err = j.file.WriteAt(b, off)
	}
	return err
}

// fail makes all who wait, now or later, return err.
func (j *journal) fail(err error) {
	j.mu.Lock()
	if j.err == nil {
		j.err = err
	}
	j.changed.Broadcast()
	j.mu.Unlock()
}

// unfolded is what the full area says is dead, if that still has to be folded.
func (j *journal) unfolded() (ids []id, generation uint32, ok bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.folded || j.err != nil {
		return nil, 0, false
	}
	return slices.Clone(j.dead[(j.generation+1)&1]), j.generation, true
}

// canDrop reports whether one more segment can be dropped on its own.
func (j *journal) canDrop() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.standing.dropped) < mostDropped
}

// stands are the notes that have to be written anew before an area is freed.
func (j *journal) stands() []note {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.standing.notes()
}

// full reports whether writes have to wait until the other area is free.
func (j *journal) full() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.room() <= kept
}

// foldDone frees the other area: the log has all that it said.
func (j *journal) foldDone(generation uint32) {
	j.mu.Lock()
	if j.generation == generation {
		j.folded = true
		j.changed.Broadcast()
	}
	j.mu.Unlock()
}

// read finds the notes of a log in the file, and makes the journal continue
// behind the last. Notes that an earlier turn left in an area are still true. If
// there is anything else in the file, or no note at all, it is not whole.
func (j *journal) read(logID uint64) (notes []note, whole bool, err error) {
	b := make([]byte, 2*j.area)
	if _, err := j.file.ReadAt(b, 0); err != nil {
		return nil, false, err
	}
	whole = true
	j.mu.Lock()
	defer j.mu.Unlock()
	j.logID, j.generation, j.at, j.err, j.standing = logID, 0, 0, nil, standing{}
	any := [2]bool{}
	for i := range any {
		j.dead[i] = j.dead[i][:0]
		for at := int64(0); at+noteLen <= j.area; at += noteLen {
			place := b[int64(i)*j.area+at:][:noteLen]
			n, generation, ok := parseNote(place, logID)
			if !ok || int(generation&1) != i {
				whole = whole && !slices.ContainsFunc(place, func(c byte) bool { return c != 0 })
				continue
			}
			any[i] = true
			notes = append(notes, n)
			j.standing.add(n)
			if n.kind == noteDead {
				j.dead[i] = append(j.dead[i], n.id)
			}
			if generation > j.generation || generation == j.generation && at >= j.at {
				j.generation, j.at = generation, at+noteLen
			}
		}
	}
	j.folded = !any[(j.generation+1)&1]
	return notes, whole && len(notes) > 0, nil
}

// journalMemory is the memory that a journal of so many bytes takes: an id for
// each note, in slices that may have grown to twice their length.
func journalMemory(file int64) int64 { return file / noteLen * 16 }
