package ram

// Join puts the records of another list behind those that are there, and empties that. Both
// are collected for Notify alone.
func (l *Evicted) Join(o *Evicted) {
	for e := o.first; e != nil; {
		next := e.next
		e.next = nil
		l.add(e)
		e = next
	}
	*o = Evicted{}
}
