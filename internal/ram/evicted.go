package ram

import "sync"

// Left is a list of records that left, of which Evicted is still to be told:
// copies, because their room may be reused by then. A shard notes them under
// its lock; they are reported after it, by whoever made them leave. Who makes many
// leave does so in steps, and reports after each.
type Left struct {
	first, last *events
	bytes       int
	demoteFirst uint32 // the number of the shard where room is made once long records have gone down; 0: none
}

// step is how many bytes of copies make a step: it ends with the first segment, or
// record, that brings them to that.
const step = 1 << 20

// full reports whether a step has ended.
func (l *Left) full() bool { return l.bytes >= step }

// add puts events behind those that are there.
func (l *Left) add(e *events) {
	if l.first == nil {
		l.first = e
	} else {
		l.last.next = e
	}
	l.last = e
	l.bytes += e.size()
}

// Report tells Evicted, in the order in which the records left, and empties the
// list. The caller holds no lock.
func (l *Left) Report() {
	l.bytes = 0
	for e := l.first; e != nil; {
		next := e.next
		l.first = next
		e.deliver()
		e = next
	}
}

type events struct {
	bytes []byte
	list  []event
	to    func(key, value []byte, cause Cause)
	next  *events
}

// size is how many bytes the events take.
func (e *events) size() int {
	if e == nil {
		return 0
	}
	return len(e.bytes) + len(e.list)*int(sizeOf[event]())
}

type event struct {
	key, value int // lengths of their bytes, one after the other
	cause      Cause
}

var eventsPool = sync.Pool{New: func() any { return new(events) }}

func (e *events) deliver() {
	rest := e.bytes
	for _, ev := range e.list {
		key, value := rest[:ev.key:ev.key], rest[ev.key:ev.key+ev.value:ev.key+ev.value]
		rest = rest[ev.key+ev.value:]
		e.to(key, value, ev.cause)
	}
	if cap(e.bytes) <= 1<<20 {
		*e = events{bytes: e.bytes[:0], list: e.list[:0]}
		eventsPool.Put(e)
	}
}

// Cause says why a record left.
type Cause uint8

// The causes.
const (
	Capacity Cause = iota // its room was needed
	Expired               // its deadline and its grace passed
	Replaced              // its key was set again
	Deleted               // its key was deleted, or everything was cleared
)
