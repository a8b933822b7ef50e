package aio

// queue is the reads that wait for a slot, oldest first, linked both ways so
// that a call that leaves takes its reads out at once. Guarded by Reader.mu.
type queue struct {
	head, tail *op
	len        int
}

func (q *queue) push(o *op) {
	o.prev, o.next, o.queued = q.tail, nil, true
	if q.tail == nil {
		q.head = o
	} else {
		q.tail.next = o
	}
	q.tail = o
	q.len++
}

func (q *queue) remove(o *op) {
	if o.prev == nil {
		q.head = o.next
	} else {
		o.prev.next = o.next
	}
	if o.next == nil {
		q.tail = o.prev
	} else {
		o.next.prev = o.prev
	}
	o.prev, o.next, o.queued = nil, nil, false
	q.len--
}
