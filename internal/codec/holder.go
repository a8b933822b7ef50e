package codec

import "sync"

// holder is a place on the heap for a value on its way through a codec: a value of
// which a method is called through an interface, or whose memory is looked at, lies
// on the heap, and one holder serves many.
type holder[V any] struct{ v V }

type holders[V any] struct{ pool sync.Pool }

// get takes an empty holder.
func (s *holders[V]) get() *holder[V] {
	if h, ok := s.pool.Get().(*holder[V]); ok {
		return h
	}
	return new(holder[V])
}

// put empties a holder, so that it keeps nothing alive and its next value shares no
// memory with this one.
func (s *holders[V]) put(h *holder[V]) {
	*h = holder[V]{}
	s.pool.Put(h)
}
