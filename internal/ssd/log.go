package ssd

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/firncache/firn/internal/ssd/files"
	"github.com/firncache/firn/internal/ssd/format"
)

// segment is one of the log's segments while its bytes are in memory: it is
// filled, sealed, written, and stays readable until its buffer is needed.
type segment struct {
	slot   int // where in the file
	serial uint64
	buf    []byte
	list   []byte // of its records, see format.ParseList
	count  int
	end    int // bytes appended, with the header
	sealed bool
	listAt int // where the list begins, once sealed

	written int  // bytes of [0, end) that are on their way no more
	whole   int  // the end of the last record that lies before written
	counted int  // bytes of list that tell of records before whole
	pins    int  // readers of buf
	done    bool // nothing is left to write
	failed  bool // a write failed: its records are being forgotten
}

// log is the memory side of the segment log: the open segment, those that are
// being written, and the slots of the file.
type log struct {
	format.Geometry
	now   func() int64
	grace int64  // see Config.Grace
	ahead int    // slots that are kept free
	wake  func() // told when there are fewer

	mu      sync.Mutex
	changed sync.Cond // of mu: something was written, a buffer or a slot came free, the log was closed
	open    *segment
	sealed  []*segment // not yet written to their end, oldest first
	memory  []*segment // all whose bytes are in memory, oldest first
	bufs    [][]byte   // free buffers
	slots   []slot
	free    []int32 // slots that hold nothing of worth
	next    uint64  // serial of the next segment
	force   uint64  // write at least up to this LSN, full block or not
	largest int     // the most that a record took or would have taken, with its place in the list
	logID   uint64
	writing bool // the writer is handing bytes to the file
	paused  bool // nothing is appended
	closed  bool

	behind atomic.Bool   // the disk is: nothing more can be appended soon
	tail   atomic.Uint64 // LSN of the next byte

	// What outlives the process, see indexMemory.
	words   []format.SlotWords
	flushed *atomic.Uint64 // everything before this LSN has been written
	kept    *format.MemoryHead
}

// slot is a segment's place in the file, beside format.SlotWords.
type slot struct {
	alive  atomic.Int64 // weight of the entries that name records there
	sealed bool         // its list is on the device
	bad    bool         // a write to it failed
}

// slotMemory is what a slot takes in bytes of memory: itself, its words, and its
// place in the list of free ones.
const slotMemory = 16 + format.SlotWordsLen + 4

// Slots are kept free, so that a segment can be opened without waiting, and a
// burst of writes finds some: one of aheadShare, and leastAhead at least.
const (
	leastAhead = 2
	aheadShare = 64
)

func aheadOf(slots int) int { return max(leastAhead, slots/aheadShare) }

func newLog(m *files.Memory, bufs [][]byte, now func() int64, grace int64) *log {
	n := int(m.Slots)
	l := &log{
		Geometry: m.Geometry(), bufs: bufs, now: now, grace: grace,
		slots: make([]slot, n), free: make([]int32, 0, n), ahead: aheadOf(n),
		words: m.SlotWords(), flushed: &m.Head.Flushed, kept: m.Head,
	}
	l.changed.L = &l.mu
	return l
}

// lsnAt is the LSN of the record at loc. The caller holds the lock of the shard
// whose entry names loc: while it does, the slot keeps its segment.
func (l *log) lsnAt(loc format.Location) uint64 {
	slot, off := l.Place(loc)
	return l.LSN(l.words[slot].Serial.Load(), off)
}

// append writes a record into the open segment, opening one if it has to. It
// never waits for the disk: without a buffer or a slot, of which reserve are not for
// the caller, it reports false. The caller holds the lock of the id's shard. The record
// counts as alive from here on, lest its segment be given back before the index names it.
func (l *log) append(x format.ID, r *format.Record, reserve int) (loc format.Location, size int, ok bool) {
	body := r.BodyChecksum()
	size = l.Pad(r.HeaderLen() + len(r.Key) + len(r.Value))

	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.noteRoom()
	l.largest = max(l.largest, size+format.MaxListed)
	s := l.room(size, reserve)
	if s == nil {
		return 0, 0, false
	}
	at := s.end
	at += r.Put(s.buf[at:], body, format.Origin{Log: l.logID, LSN: l.LSN(s.serial, s.end)})
	at += copy(s.buf[at:], r.Key)
	at += copy(s.buf[at:], r.Value)
	clear(s.buf[at : s.end+size])
	loc = l.Location(s.slot, s.end)
	s.list = format.AppendListed(s.list, x, r.Kind(), uint32(size>>l.UnitShift))
	s.count++
	s.end += size
	w := &l.words[s.slot]
	weight := l.weight(r.Kind().Class(size))
	w.Written.Add(weight)
	l.slots[s.slot].alive.Add(int64(weight)) // before the index names it: see named
	w.Until.Store(max(w.Until.Load(), l.until(r.Deadline)))
	l.tail.Store(l.LSN(s.serial, s.end))
	if s.end-s.written >= writeChunk {
		l.changed.Broadcast()
	}
	return loc, size, true
}

// until is when a record with a deadline is of no use any more.
func (l *log) until(deadline int64) uint64 {
	if deadline == 0 {
		return format.Forever
	}
	return uint64(max(deadline, 0) + l.grace)
}

// room is the open segment, if it has room for a record of size bytes, or a new
// one; nil if there is no memory or no slot for one.
func (l *log) room(size, reserve int) *segment {
	s := l.open
	if len(l.free) < reserve {
		return nil // what is left of the last slot is for what is being moved
	}
	if l.fits(size) {
		return s
	}
	if size > l.MaxRecord() || l.closed {
		return nil
	}
	if !l.canOpen(reserve) {
		return nil
	}
	if s != nil {
		l.seal()
	}
	return l.begin()
}

// fits reports whether the open segment has room for a record of size bytes.
func (l *log) fits(size int) bool {
	s := l.open
	return s != nil && s.end+size+len(s.list)+format.MaxListed+format.TrailerLen <= l.SegmentBytes()
}

// hasRoom reports whether a record from RAM of n bytes could be appended.
func (l *log) hasRoom(n int) bool {
	return len(l.free) >= forDemote && (l.fits(l.Pad(n)) || l.canOpen(forDemote))
}

// Slots that are not for records which come from RAM: where those have taken all
// others, reclaiming can still move what is alive in a segment, and free it.
const (
	forReclaim = 0
	forDemote  = 1
)

// canOpen reports whether a segment could be opened now, and leave so many slots.
func (l *log) canOpen(reserve int) bool {
	return !l.paused && len(l.free) > reserve && (len(l.bufs) > 0 || l.idleBuffer() >= 0)
}

// idleBuffer is the oldest segment in memory that has been written and that
// nobody reads; -1 if there is none.
func (l *log) idleBuffer() int {
	for i, s := range l.memory {
		if s.done && s.pins == 0 {
			return i
		}
	}
	return -1
}

// begin opens a segment: there is memory, and a slot.
func (l *log) begin() *segment {
	s := &segment{slot: int(l.free[0]), serial: l.next, end: format.SegmentHeaderLen, whole: format.SegmentHeaderLen}
	if len(l.bufs) > 0 {
		s.buf = l.bufs[len(l.bufs)-1]
		l.bufs = l.bufs[:len(l.bufs)-1]
	} else {
		i := l.idleBuffer()
		old := l.memory[i]
		s.buf, s.list = old.buf, old.list[:0]
		l.memory = append(l.memory[:i], l.memory[i+1:]...)
	}
	l.free = l.free[:copy(l.free, l.free[1:])]
	if len(l.free) < l.ahead && l.wake != nil {
		l.wake()
	}
	l.next++
	l.kept.Next.Store(l.next)
	format.PutSegmentHeader(s.buf, l.logID, s.serial, l.SegmentBytes())
	l.slots[s.slot].sealed = false
	l.words[s.slot].Written.Store(0)
	l.words[s.slot].Until.Store(0)
	l.words[s.slot].Serial.Store(s.serial)
	l.memory = append(l.memory, s)
	l.open = s
	l.tail.Store(l.LSN(s.serial, s.end))
	l.changed.Broadcast()
	return s
}

// seal ends the open segment: its list and trailer take their places, and it
// waits to be written.
func (l *log) seal() {
	s := l.open
	l.open = nil
	now := l.now()
	s.putList(l.logID, now)
	l.kept.NoteTime(now)
	s.sealed = true
	l.sealed = append(l.sealed, s)
	l.changed.Broadcast()
}

// putList makes the end of a segment that is full: its list and its trailer.
func (s *segment) putList(logID uint64, now int64) {
	size := len(s.buf)
	s.listAt = size - format.TrailerLen - len(s.list)
	clear(s.buf[s.end:min(s.listAt, s.end+files.BlockBytes)]) // what shares a block with the end
	clear(s.buf[max(s.end, s.listAt-files.BlockBytes):s.listAt])
	copy(s.buf[s.listAt:], s.list)
	t := format.Trailer{Count: s.count, ListLen: len(s.list), DataEnd: s.end, ListChecksum: format.Checksum(0, s.list), Serial: s.serial, SealedAt: now}
	t.Put(s.buf[size-format.TrailerLen:], logID)
}

// pin finds a segment in memory and keeps its bytes there until unpin. What lies
// before its end at the time does not change.
func (l *log) pin(slot int, serial uint64) *segment {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.memory {
		if s.slot == slot && s.serial == serial {
			s.pins++
			return s
		}
	}
	return nil
}

func (l *log) unpin(s *segment) {
	l.mu.Lock()
	if s.pins--; s.pins == 0 && s.done {
		l.noteRoom()
		l.changed.Broadcast()
	}
	l.mu.Unlock()
}

// weight is about how many bytes the record of an entry of a class has: what is alive
// of a segment is told by the weights of its entries, beside that of all its records.
func (l *log) weight(class int) uint64 {
	switch class {
	case format.HeadClass:
		return format.WeightOf(0)
	case format.PartClass:
		return format.WeightOf(l.MaxPart())
	}
	return format.Entry(class).Weight()
}

// release frees a slot: no entry of the index names it any more.
func (l *log) release(slot int) {
	l.mu.Lock()
	s := &l.slots[slot]
	l.words[slot].Serial.Store(0)
	s.sealed = false
	if !s.bad {
		l.free = append(l.free, int32(slot))
	}
	l.noteRoom()
	l.changed.Broadcast()
	l.mu.Unlock()
}

// freeSlots is how many segments can be opened before one has to be reclaimed.
func (l *log) freeSlots() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.free)
}

// A log is behind before it is full, for those who asked whether it is do not
// append at once. burst is how many bytes it keeps for what several of them do
// meanwhile, where segments are not too small or too large for that, and for one of
// the largest that have come.
const burst = 128 << 10

// spare is how many bytes of the open segment are left when the log is behind. The
// caller holds mu.
func (l *log) spare() int { return max(l.usualSpare(), l.largest) }

// usualSpare is spare while no record has come that is larger. It does not change.
func (l *log) usualSpare() int {
	size := l.SegmentBytes()
	return min(max(burst, size/4), size-size/4)
}

// noteRoom tells whether the log is behind: the open segment is nearly full, or for
// what is being moved, and no other can be opened. The caller holds mu.
func (l *log) noteRoom() {
	s := l.open
	behind := !l.canOpen(forDemote) && (s == nil || len(l.free) < forDemote || s.end+len(s.list)+format.TrailerLen > l.SegmentBytes()-l.spare())
	if l.behind.Load() == behind {
		return
	}
	l.behind.Store(behind)
	if !behind && l.wake != nil {
		l.wake() // the index may have waited for it to grow
	}
}

// waitRoom waits while the log is behind, for patience at most. It reports
// whether there is room.
func (l *log) waitRoom(patience time.Duration) bool {
	return !l.behind.Load() || l.waitFor(patience, func() bool {
		l.noteRoom()
		return !l.behind.Load()
	})
}

// waitFor waits until ok, which it calls with mu held after every change, for
// patience at most. It reports what ok does then.
func (l *log) waitFor(patience time.Duration, ok func() bool) bool {
	until := time.Now().Add(patience)
	defer time.AfterFunc(patience, l.announce).Stop()
	l.mu.Lock()
	defer l.mu.Unlock()
	for !ok() {
		if !time.Now().Before(until) || l.closed {
			return false
		}
		l.changed.Wait()
	}
	return true
}

// announce wakes those who wait for a change.
func (l *log) announce() {
	l.mu.Lock()
	l.changed.Broadcast()
	l.mu.Unlock()
}

// flushTo makes the writer write everything before lsn, and waits until it has,
// or has failed to, or the log is closed.
func (l *log) flushTo(lsn uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.force = max(l.force, lsn)
	l.changed.Broadcast()
	for l.flushed.Load() < lsn && !l.closed {
		l.changed.Wait()
	}
}

// goOn makes the log go on with a serial, beside the segments that its slots have.
// All of them have been written.
func (l *log) goOn(next uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.goOnLocked(next)
}

func (l *log) goOnLocked(next uint64) {
	l.free = l.free[:0]
	for i := range l.slots {
		serial := l.words[i].Serial.Load()
		l.slots[i].sealed = serial != 0
		if serial == 0 {
			l.free = append(l.free, int32(i))
		}
		next = max(next, serial+1)
	}
	l.next = next
	l.kept.Next.Store(next)
	l.tail.Store(l.LSN(next, 0))
	l.flushed.Store(l.LSN(next, 0))
	l.noteRoom()
}

// tick makes the writer write what the open segment holds.
func (l *log) tick() {
	l.mu.Lock()
	if s := l.open; s != nil && s.end > s.written {
		l.force = max(l.force, l.LSN(s.serial, s.end))
	}
	l.changed.Broadcast()
	l.mu.Unlock()
}

const flushEvery = time.Second

func (l *log) close() {
	l.mu.Lock()
	l.closed = true
	l.changed.Broadcast()
	l.mu.Unlock()
}
