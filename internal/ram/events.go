package ram

import "sync"

// events are the records that left under a shard's lock and of which Evicted
// is told after it: copies, because their room may be reused by then.
type events struct {
	bytes []byte
	list  []event
}

type event struct {
	key, value int // lengths of their bytes, one after the other
	cause      Cause
}

var eventsPool = sync.Pool{New: func() any { return new(events) }}

// emit notes that a record leaves. It does nothing if nobody listens.
func (s *shard) emit(r *stored, cause Cause) {
	if s.tier.evicted == nil {
		return
	}
	if s.events == nil {
		s.events = eventsPool.Get().(*events)
	}
	e := s.events
	e.bytes = append(e.bytes, s.key(r)...)
	e.bytes = append(e.bytes, s.value(r)...)
	e.list = append(e.list, event{r.shape.KeyLen(), r.valueLen, cause})
}

// emitReplaced notes that a record gives way to another of the same key.
func (s *shard) emitReplaced(r *stored) {
	if s.tier.evicted == nil {
		return
	}
	cause := Replaced
	if s.tier.expired(r) {
		cause = Expired
	}
	s.emit(r, cause)
}

// unlock releases the shard and then delivers what was noted.
func (s *shard) unlock() {
	e := s.events
	if e == nil {
		s.mu.Unlock()
		return
	}
	s.events = nil
	s.mu.Unlock()
	e.deliver(s.tier.evicted)
}

func (e *events) deliver(to func(key, value []byte, cause Cause)) {
	rest := e.bytes
	for _, ev := range e.list {
		key, value := rest[:ev.key:ev.key], rest[ev.key:ev.key+ev.value:ev.key+ev.value]
		rest = rest[ev.key+ev.value:]
		to(key, value, ev.cause)
	}
	if cap(e.bytes) <= 1<<20 {
		e.bytes, e.list = e.bytes[:0], e.list[:0]
		eventsPool.Put(e)
	}
}
