package policy

// shadow is a miniature cache under one setting: it knows hashes and frequencies,
// holds no data, and counts every record as one byte. Its lanes are exact
// queues where the cache has segments.
type shadow struct {
	setting Setting
	hits    float64  // of late; the Tuner lets it decay
	slots   []slot   // from 1: one per resident key
	reads   []uint8  // frequency of the key in each slot
	index   []uint16 // hash → slot that heads a chain
	free    uint16   // list of unused slots, by next
	lanes   [2]lane
	Ghosts
}

const slotBytes = 16 + 1 // with the slot's frequency

// slot is a resident key.
type slot struct {
	hash  uint64
	stamp uint32 // clock when it came into its lane
	next  uint16 // towards the newer end of its lane; 0 ends a list
	chain uint16 // next slot of the same index entry
}

// lane is a queue of slots.
type lane struct {
	oldest, newest uint16
	count          int
}

// newShadow makes an empty shadow for at most size keys.
func newShadow(setting Setting, size int) *shadow {
	s := &shadow{setting: setting, slots: make([]slot, size+1), reads: make([]uint8, size+1), index: make([]uint16, 2*size)}
	s.Ghosts = NewGhosts(make([]uint64, GhostWords(int64(size), 1<<30)))
	for i := size; i > 0; i-- {
		s.release(uint16(i))
	}
	return s
}

func (s *shadow) count() int { return s.lanes[Small].count + s.lanes[Main].count }

// access makes a key resident and reports whether it was. At capacity records
// are evicted; filling says that the cache has not evicted anything yet.
func (s *shadow) access(hash uint64, capacity int, filling bool) bool {
	for i := *s.entry(hash); i != 0; i = s.slots[i].chain {
		if s.slots[i].hash == hash {
			s.reads[i] = min(s.reads[i]+1, MaxFrequency)
			return true
		}
	}
	for s.free == 0 || s.count() >= capacity && !filling {
		s.evictOne()
	}
	to := Main
	if !filling {
		to = s.Lane(hash, s.stamp(Small), s.stamp(Main))
	}
	s.insert(hash, to)
	return false
}

// stamp is when a lane's tail came into it.
func (s *shadow) stamp(l Lane) uint32 {
	if s.lanes[l].count == 0 {
		return s.Clock()
	}
	return s.slots[s.lanes[l].oldest].stamp
}

// evictOne works off one record at a tail.
func (s *shadow) evictOne() {
	small, main := int64(s.lanes[Small].count), int64(s.lanes[Main].count)
	from := s.setting.Victim(small, main)
	i := s.pop(from)
	to, frequency := s.setting.Next(from, s.reads[i], small, main)
	if to == None {
		s.Evict(from, s.slots[i].hash)
		s.unlink(i)
		s.release(i)
		return
	}
	s.reads[i] = frequency
	s.push(to, i)
}

// filter removes the keys that keep refuses.
func (s *shadow) filter(keep func(hash uint64) bool) {
	for l := range s.lanes {
		for range s.lanes[l].count {
			i := s.pop(Lane(l))
			if keep(s.slots[i].hash) {
				stamp := s.slots[i].stamp
				s.push(Lane(l), i)
				s.slots[i].stamp = stamp
				continue
			}
			s.unlink(i)
			s.release(i)
		}
	}
}

func (s *shadow) insert(hash uint64, to Lane) {
	i := s.free
	s.free = s.slots[i].next
	e := s.entry(hash)
	s.slots[i], s.reads[i] = slot{hash: hash, chain: *e}, 0
	*e = i
	s.push(to, i)
}

func (s *shadow) push(to Lane, i uint16) {
	l := &s.lanes[to]
	s.slots[i].stamp, s.slots[i].next = s.Clock(), 0
	if l.count == 0 {
		l.oldest = i
	} else {
		s.slots[l.newest].next = i
	}
	l.newest = i
	l.count++
}

func (s *shadow) pop(from Lane) uint16 {
	l := &s.lanes[from]
	i := l.oldest
	l.oldest = s.slots[i].next
	l.count--
	return i
}

// entry is the head of the chain that a hash belongs to.
func (s *shadow) entry(hash uint64) *uint16 {
	return &s.index[uint32(spread(hash)>>32)%uint32(len(s.index))]
}

func (s *shadow) unlink(i uint16) {
	e := s.entry(s.slots[i].hash)
	for *e != i {
		e = &s.slots[*e].chain
	}
	*e = s.slots[i].chain
}

func (s *shadow) release(i uint16) {
	s.slots[i].next = s.free
	s.free = i
}
