// Package evicted holds records that left a cache until OnEvict is called for them, and why
// they left.
package evicted

import (
	"reflect"
	"sync"
)

// List lists records that left the tier, for which OnEvict is still to be called:
// copies, because their room may be reused by then. A shard notes them under its lock.
// The caller that made them leave calls Notify after it; one that makes many leave does
// so in steps, and notifies after each.
type List struct {
	first, last *Batch
	bytes       int
	DemoteFirst uint32 // the number of the shard whose long records have to be demoted before it has room; 0: none
}

// Step is how many bytes of copies make a step: it ends with the first segment, or
// record, that brings them to that.
const Step = 1 << 20

// Full reports whether a step has ended.
func (l *List) Full() bool { return l.bytes >= Step }

// Empty reports whether there are none.
func (l *List) Empty() bool { return l.first == nil }

// Bytes is how many bytes the list takes.
func (l *List) Bytes() int { return l.bytes }

// Add puts a batch of records that left, for a function, behind those that are there.
func (l *List) Add(e *Batch, onEvict func(key, value []byte, cause Cause)) {
	e.to = onEvict
	l.link(e)
}

func (l *List) link(e *Batch) {
	if l.first == nil {
		l.first = e
	} else {
		l.last.next = e
	}
	l.last = e
	l.bytes += e.size()
}

// Join puts the records of another list behind those that are there, and empties that. Both
// are collected for Notify alone.
func (l *List) Join(o *List) {
	for e := o.first; e != nil; {
		next := e.next
		e.next = nil
		l.link(e)
		e = next
	}
	*o = List{}
}

// Notify calls OnEvict for the records, in the order in which they left, and empties the
// list. The caller holds no lock.
func (l *List) Notify() {
	l.bytes = 0
	for e := l.first; e != nil; {
		next := e.next
		l.first = next
		e.deliver()
		e = next
	}
}

// NotifyAside is Notify in a goroutine of its own, if there is anything.
func (l *List) NotifyAside() {
	if l.first != nil {
		go l.Notify()
	}
}

// Batch is copies of the records that left one shard while it was locked.
type Batch struct {
	Copies
	to   func(key, value []byte, cause Cause)
	next *Batch
}

var pool = sync.Pool{New: func() any { return new(Batch) }}

// NewBatch returns an empty batch, which a Notify gives back.
func NewBatch() *Batch { return pool.Get().(*Batch) }

// size is how many bytes the batch takes.
func (e *Batch) size() int {
	if e == nil {
		return 0
	}
	return len(e.bytes) + len(e.list)*copiedSize
}

// deliver calls the batch's function for its records, in order, and gives the batch up.
func (e *Batch) deliver() {
	e.Each(func(key, value []byte, cause Cause) bool {
		e.to(key, value, cause)
		return true
	})
	if cap(e.bytes) <= 1<<20 {
		*e = Batch{Copies: Copies{e.bytes[:0], e.list[:0]}}
		pool.Put(e)
	}
}

// Copies are copies of records, for a function that is called when the shard is
// unlocked.
type Copies struct {
	bytes []byte
	list  []copied
}

type copied struct {
	key, value int   // lengths of their bytes, one after the other
	cause      Cause // of its leaving
}

var copiedSize = int(reflect.TypeFor[copied]().Size())

func (c *Copies) Add(key, value []byte, cause Cause) {
	c.bytes = append(append(c.bytes, key...), value...)
	c.list = append(c.list, copied{len(key), len(value), cause})
}

func (c *Copies) Clear() { c.bytes, c.list = c.bytes[:0], c.list[:0] }

// Each calls yield for every record, in order, until that returns false, which it
// reports.
func (c *Copies) Each(yield func(key, value []byte, cause Cause) bool) bool {
	rest := c.bytes
	for _, r := range c.list {
		key, value := rest[:r.key:r.key], rest[r.key:r.key+r.value:r.key+r.value]
		rest = rest[r.key+r.value:]
		if !yield(key, value, r.cause) {
			return false
		}
	}
	return true
}
