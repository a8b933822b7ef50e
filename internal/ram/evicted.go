package ram

import "sync"

// Evicted lists records that left the tier and of which OnEvict is still to be told:
// copies, because their room may be reused by then. A shard notes them under its lock.
// The caller that made them leave calls Notify after it; one that makes many leave does
// so in steps, and notifies after each.
type Evicted struct {
	first, last *evictedBatch
	bytes       int
	demoteFirst uint32 // the number of the shard whose long records have to be demoted before it has room; 0: none
}

// step is how many bytes of copies make a step: it ends with the first segment, or
// record, that brings them to that.
const step = 1 << 20

// full reports whether a step has ended.
func (l *Evicted) full() bool { return l.bytes >= step }

// Empty reports whether there is nothing to tell.
func (l *Evicted) Empty() bool { return l.first == nil }

// Bytes is how many bytes the list takes.
func (l *Evicted) Bytes() int { return l.bytes }

// add puts a batch behind those that are there.
func (l *Evicted) add(e *evictedBatch) {
	if l.first == nil {
		l.first = e
	} else {
		l.last.next = e
	}
	l.last = e
	l.bytes += e.size()
}

// Notify tells OnEvict, in the order in which the records left, and empties the
// list. The caller holds no lock.
func (l *Evicted) Notify() {
	l.bytes = 0
	for e := l.first; e != nil; {
		next := e.next
		l.first = next
		e.deliver()
		e = next
	}
}

// notifyAside is Notify in a goroutine of its own, if there is anything.
func (l *Evicted) notifyAside() {
	if l.first != nil {
		go l.Notify()
	}
}

// evictedBatch is copies of the records that left one shard while it was locked.
type evictedBatch struct {
	recordCopies
	to   func(key, value []byte, cause Cause)
	next *evictedBatch
}

var evictedPool = sync.Pool{New: func() any { return new(evictedBatch) }}

// size is how many bytes the batch takes.
func (e *evictedBatch) size() int {
	if e == nil {
		return 0
	}
	return len(e.bytes) + len(e.list)*copiedRecordSize
}

// deliver tells the batch's records, in order, and gives it up.
func (e *evictedBatch) deliver() {
	e.each(func(key, value []byte, cause Cause) bool {
		e.to(key, value, cause)
		return true
	})
	if cap(e.bytes) <= 1<<20 {
		*e = evictedBatch{recordCopies: recordCopies{e.bytes[:0], e.list[:0]}}
		evictedPool.Put(e)
	}
}

// recordCopies are copies of records, for somebody who is called when the shard is
// unlocked.
type recordCopies struct {
	bytes []byte
	list  []copiedRecord
}

type copiedRecord struct {
	key, value int   // lengths of their bytes, one after the other
	cause      Cause // of its leaving
}

var copiedRecordSize = int(sizeOf[copiedRecord]())

func (c *recordCopies) add(key, value []byte, cause Cause) {
	c.bytes = append(append(c.bytes, key...), value...)
	c.list = append(c.list, copiedRecord{len(key), len(value), cause})
}

func (c *recordCopies) clear() { c.bytes, c.list = c.bytes[:0], c.list[:0] }

// each calls yield for every record, in order, until that returns false, which it
// reports.
func (c *recordCopies) each(yield func(key, value []byte, cause Cause) bool) bool {
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
