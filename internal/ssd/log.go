package ssd

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/firncache/firn/internal/ssd/files"
	"github.com/firncache/firn/internal/ssd/format"
)

// log is the memory side of the segment log: the open segment, those that are
// being written, and the slots of the file.
type log struct {
	format.Geometry
	now             func() int64
	grace           *atomic.Int64 // see Config.Grace
	freeTarget      int           // slots that are kept free
	wakeMaintenance func()        // called when there are fewer

	mu            sync.Mutex // the last in order: after any shard of the index
	changed       sync.Cond  // of mu: something was written, a buffer or a slot came free, the log was closed
	open          *segment
	sealed        []*segment // not yet written to their end, oldest first
	memory        []*segment // all whose bytes are in memory, oldest first
	bufs          [][]byte   // free buffers
	slots         []slot
	free          []int32 // slots that hold no segment, or one that no entry names
	next          uint64  // serial of the next segment
	forceLSN      uint64  // write at least up to this LSN, full block or not
	largestRecord int     // the most that a record took or would have taken, with its place in the list
	logID         uint64
	writing       bool // the writer is writing, without mu
	paused        bool // nothing is appended
	hurried       bool // nobody waits for room
	stalledSince  time.Time
	closed        bool

	usable  atomic.Int64  // slots below it take segments; those beyond are surplus
	stalled atomic.Bool   // the disk is: nothing more can be appended soon
	tail    atomic.Uint64 // LSN of the next byte

	// State that outlives the process, see files.Memory.
	slotWords []format.SlotWords
	flushed   *atomic.Uint64 // everything before this LSN has been written
	head      *format.MemoryHead
}

// slot is a segment's place in the file, beside format.SlotWords.
type slot struct {
	alive  atomic.Int64 // weight of the entries that name records there
	sealed bool         // its list is on the device
	bad    bool         // a write to it failed
}

// slotMemory is the memory of a slot in bytes: itself, its words, and its
// place in the list of free ones.
const slotMemory = 16 + format.SlotWordsLen + 4

// Slots are kept free, so that a segment can be opened without waiting, and a
// burst of writes finds some: one of freeShare, and minFree at least.
const (
	minFree   = 2
	freeShare = 64
)

func freeTargetOf(slots int) int { return max(minFree, slots/freeShare) }

func newLog(m *files.Memory, bufs [][]byte, now func() int64, grace *atomic.Int64) *log {
	n := int(m.Slots)
	l := &log{
		Geometry: m.Geometry(), bufs: bufs, now: now, grace: grace,
		slots: make([]slot, n), free: make([]int32, 0, n), freeTarget: freeTargetOf(n),
		slotWords: m.SlotWords(), flushed: &m.Head.Flushed, head: m.Head,
	}
	l.changed.L = &l.mu
	l.usable.Store(int64(n))
	return l
}

// lsnAt is the LSN of the record at loc. The caller holds the lock of the shard
// whose entry names loc: while it does, the slot keeps its segment.
func (l *log) lsnAt(loc format.Location) uint64 {
	slot, off := l.Place(loc)
	return l.LSN(l.slotWords[slot].Serial.Load(), off)
}

// weight is about how many bytes the record of an entry of a class has: the live bytes
// of a segment follow from the weights of its entries and of all its records.
func (l *log) weight(class int) uint64 {
	switch class {
	case format.HeadClass:
		return format.Weight(0)
	case format.PartClass:
		return uint64(l.MaxPart())
	}
	return format.Weight(class)
}

// flushTo makes the writer write everything before lsn, and waits until it has,
// or has failed to, or the log is closed.
func (l *log) flushTo(lsn uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forceLSN = max(l.forceLSN, lsn)
	l.changed.Broadcast()
	for l.flushed.Load() < lsn && !l.closed {
		l.changed.Wait()
	}
}

// flushAll seals the open segment and waits until all are written. It reports false if
// the log was closed before.
func (l *log) flushAll() bool {
	l.mu.Lock()
	if l.open != nil {
		l.seal()
	}
	l.mu.Unlock()
	end := l.LSN(l.nextSerial(), 0)
	l.flushTo(end)
	return l.flushed.Load() >= end
}

// flushOpen makes the writer write the records of the open segment.
func (l *log) flushOpen() {
	l.mu.Lock()
	if s := l.open; s != nil && s.end > s.written {
		l.forceLSN = max(l.forceLSN, l.LSN(s.serial, s.end))
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

const (
	// writeChunk is how many bytes are written at once.
	writeChunk = 1 << 20
)

func (l *log) nextSerial() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.next
}

// slotStates are those of format.SlotWords, for each slot that is not surplus.
func (l *log) slotStates() []format.SlotState {
	n := int(l.usable.Load())
	states := make([]format.SlotState, 0, n)
	for i := range n {
		w := &l.slotWords[i]
		states = append(states, format.SlotState{Serial: w.Serial.Load(), Written: w.Written.Load(), Until: w.Until.Load()})
	}
	return states
}

func (l *log) setSlotStates(states []format.SlotState) {
	for i, s := range states {
		w := &l.slotWords[i]
		w.Serial.Store(s.Serial)
		w.Written.Store(s.Written)
		w.Until.Store(s.Until)
	}
}

// copySlotStates is setSlotStates for those of another log, of which this has perhaps fewer.
func (l *log) copySlotStates(from []format.SlotWords) {
	for i := range min(len(l.slotWords), len(from)) {
		w := &l.slotWords[i]
		w.Serial.Store(from[i].Serial.Load())
		w.Written.Store(from[i].Written.Load())
		w.Until.Store(from[i].Until.Load())
	}
}

// onDisk returns a predicate: whether a location is that of a record written before
// an LSN.
func (l *log) onDisk(flushed uint64) func(format.Location) bool {
	return func(loc format.Location) bool {
		slot, off := l.Place(loc)
		if slot >= len(l.slotWords) || off < format.SegmentHeaderLen {
			return false
		}
		serial := l.slotWords[slot].Serial.Load()
		return serial != 0 && l.LSN(serial, off) < flushed
	}
}

// addAlive adds to the weight that is alive of the segment with a location.
func (l *log) addAlive(loc format.Location, weight int64) {
	slot, _ := l.Place(loc)
	l.slots[slot].alive.Add(weight)
}

// clearAlive makes nothing alive.
func (l *log) clearAlive() {
	for i := range l.slots {
		l.slots[i].alive.Store(0)
	}
}
