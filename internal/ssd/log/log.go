package log

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/firncache/firn/internal/ssd/files"
	"github.com/firncache/firn/internal/ssd/format"
)

// Log is the memory side of the segment log: the open segment, those that are
// being written, and the slots of the file.
type Log struct {
	format.Geometry
	now             func() int64
	grace           *atomic.Int64 // see Config.Grace
	FreeTarget      int           // slots that are kept free
	WakeMaintenance func()        // called when there are fewer

	Mu            sync.Mutex // the last in order: after any shard of the index
	changed       sync.Cond  // of mu: something was written, a buffer or a slot came free, the log was closed
	Open          *Segment
	sealed        []*Segment // not yet written to their end, oldest first
	Memory        []*Segment // all whose bytes are in memory, oldest first
	bufs          [][]byte   // free buffers
	Slots         []Slot
	Free          []int32 // slots that hold no segment, or one that no entry names
	next          uint64  // serial of the next segment
	forceLSN      uint64  // write at least up to this LSN, full block or not
	largestRecord int     // the most that a record took or would have taken, with its place in the list
	logID         uint64
	writing       bool // the writer is writing, without mu
	paused        bool // nothing is appended
	hurried       bool // waits for room end at once
	stalledSince  time.Time
	closed        bool

	Usable  atomic.Int64  // slots below it take segments; those beyond are surplus
	Stalled atomic.Bool   // the disk is: nothing more can be appended soon
	Tail    atomic.Uint64 // LSN of the next byte

	// State that outlives the process, see files.Memory.
	SlotWords []format.SlotWords
	Flushed   *atomic.Uint64 // everything before this LSN has been written
	head      *format.MemoryHead
}

// Slot is a segment's place in the file, beside format.SlotWords.
type Slot struct {
	Alive  atomic.Int64 // weight of the entries that name records there
	sealed bool         // its list is on the device
	bad    bool         // a write to it failed
}

// SlotMemory is the memory of a slot in bytes: itself, its words, and its
// place in the list of free ones.
const SlotMemory = 16 + format.SlotWordsLen + 4

// Slots are kept free, so that a segment can be opened without waiting, and a
// burst of writes finds some: one of freeShare, and minFree at least.
const (
	minFree   = 2
	freeShare = 64
)

func FreeTargetOf(slots int) int { return max(minFree, slots/freeShare) }

// New makes a log over memory that outlives the process, of which so many slots are usable.
func New(m *files.Memory, bufs [][]byte, usable int, logID uint64, now func() int64, grace *atomic.Int64) *Log {
	n := int(m.Slots)
	l := &Log{
		Geometry: m.Geometry(), bufs: bufs, now: now, grace: grace,
		Slots: make([]Slot, n), Free: make([]int32, 0, n), FreeTarget: FreeTargetOf(usable), logID: logID,
		SlotWords: m.SlotWords(), Flushed: &m.Head.Flushed, head: m.Head,
	}
	l.changed.L = &l.Mu
	l.Usable.Store(int64(usable))
	return l
}

// LSNAt is the LSN of the record at loc. The caller holds the lock of the shard
// whose entry names loc: while it does, the slot keeps its segment.
func (l *Log) LSNAt(loc format.Location) uint64 {
	slot, off := l.Place(loc)
	return l.LSN(l.SlotWords[slot].Serial.Load(), off)
}

// Weight is about how many bytes the record of an entry of a class has: the live bytes
// of a segment follow from the weights of its entries and of all its records.
func (l *Log) Weight(class int) uint64 {
	switch class {
	case format.HeadClass:
		return format.Weight(0)
	case format.PartClass:
		return uint64(l.MaxPart())
	}
	return format.Weight(class)
}

const FlushEvery = time.Second

func (l *Log) Close() {
	l.Mu.Lock()
	l.closed = true
	l.changed.Broadcast()
	l.Mu.Unlock()
}

// writeChunk is how many bytes are written at once.
const writeChunk = 1 << 20

// Number is that of the log, which is part of every checksum in it.
func (l *Log) Number() uint64 {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	return l.logID
}

func (l *Log) NextSerial() uint64 {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	return l.next
}

// SlotStates are those of format.SlotWords, for each slot that is not surplus.
func (l *Log) SlotStates() []format.SlotState {
	n := int(l.Usable.Load())
	states := make([]format.SlotState, 0, n)
	for i := range n {
		w := &l.SlotWords[i]
		states = append(states, format.SlotState{Serial: w.Serial.Load(), Written: w.Written.Load(), Until: w.Until.Load()})
	}
	return states
}

func (l *Log) SetSlotStates(states []format.SlotState) {
	for i, s := range states {
		w := &l.SlotWords[i]
		w.Serial.Store(s.Serial)
		w.Written.Store(s.Written)
		w.Until.Store(s.Until)
	}
}

// CopySlotStates is SetSlotStates for those of another log, of which this has perhaps fewer.
func (l *Log) CopySlotStates(from []format.SlotWords) {
	for i := range min(len(l.SlotWords), len(from)) {
		w := &l.SlotWords[i]
		w.Serial.Store(from[i].Serial.Load())
		w.Written.Store(from[i].Written.Load())
		w.Until.Store(from[i].Until.Load())
	}
}

// OnDisk returns a predicate: whether a location is that of a record written before
// an LSN.
func (l *Log) OnDisk(flushed uint64) func(format.Location) bool {
	return func(loc format.Location) bool {
		slot, off := l.Place(loc)
		if slot >= len(l.SlotWords) || off < format.SegmentHeaderLen {
			return false
		}
		serial := l.SlotWords[slot].Serial.Load()
		return serial != 0 && l.LSN(serial, off) < flushed
	}
}

// AddAlive adds to the weight that is alive of the segment with a location.
func (l *Log) AddAlive(loc format.Location, weight int64) {
	slot, _ := l.Place(loc)
	l.Slots[slot].Alive.Add(weight)
}

// ClearAlive makes nothing alive.
func (l *Log) ClearAlive() {
	for i := range l.Slots {
		l.Slots[i].Alive.Store(0)
	}
}
