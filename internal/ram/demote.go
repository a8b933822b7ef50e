package ram

// makeRoom frees about a segment of some shard for a record. It reports false if
// no shard holds any. errBusy says that the tier below cannot take what would
// leave: the writer has to wait for it, or has a record that lives there already,
// and is not worth what would be lost for it. One that has waited for long enough
// goes on: what leaves may be dropped. The caller holds no shard's lock.
func (t *Tier) makeRoom(s *shard, r *newRecord, left *Left) (freed bool, err error) {
	freed, may := t.richest(s).reclaim(left, func() bool {
		return !r.promoted && r.waited == longEnough || t.belowReady()
	})
	if !may {
		return false, errBusy
	}
	if left.down != nil {
		return false, errLong
	}
	return freed, nil
}

// belowReady reports whether the tier below, if there is one, can take what leaves.
func (t *Tier) belowReady() bool {
	if t.below == nil {
		return true
	}
	_, ok := t.below.Ready(longEnough)
	return ok
}

// awaitBelow waits until the tier below can take what leaves, or the writer of the
// record has waited for long enough. He holds no lock and no segment.
func (t *Tier) awaitBelow(r *newRecord) {
	var ok bool
	if r.waited, ok = t.below.Ready(r.waited); !ok {
		r.waited = longEnough
	}
}

// leave lets a live record go for want of room: to the tier below, if it takes
// it, which it has done before the entry goes here, so that the record is never
// in neither.
func (s *shard) leave(e *entry) {
	to := refused
	switch {
	case s.long(&e.rec):
		to = s.offer(e.hash, &e.rec, e.freq(), false)
	case s.demote(e.hash, &e.rec, e.freq(), s.tier.mayBeBelow(&e.rec)):
		to = below
	}
	switch to {
	case below:
		s.takeOut(e.hash, e.bucket, e.slot, &e.rec)
		s.count.Demoted++
	case refused:
		s.remove(e.hash, e.bucket, e.slot, &e.rec, Capacity)
		s.count.Evicted++
	}
}

// demote offers a record to the tier below, unless it is hidden; copied says that it
// may be there. It reports whether that took it.
func (s *shard) demote(hash uint64, r *stored, freq int, copied bool) bool {
	t := s.tier
	if t.below == nil || t.deadline(r) < 0 {
		return false
	}
	key, value := s.keyValue(r)
	return t.below.Demote(hash, key, value, t.deadline(r), s.wasRead(r, freq), copied)
}

// wasRead reports whether the record was read since its key came here, or came by
// being read below.
func (s *shard) wasRead(r *stored, freq int) bool {
	return freq > 0 || s.tier.header(r.off).version.Load()&wasRead != 0
}

// Promote stores a record that was read below as token, if its key is absent
// here and Below still holds the token: in that case nothing newer was set, or
// deleted, since. It goes where a new key's would; it supersedes nothing and
// counts as promoted, not as set. It reports whether the record was stored: one
// that is too large, or whose deadline and grace have passed, is not, nor one
// that would make others leave while Below is not Ready.
func (t *Tier) Promote(hash uint64, key, value []byte, deadline int64, token uint64) bool {
	r := t.newRecord(hash, key, value, deadline)
	r.version, r.promoted, r.waited = wasRead|copyBelow, true, longEnough
	if deadline != 0 {
		t.expectExpiry()
	}
	var left Left
	ok := t.promote(&r, token, &left)
	left.Report()
	return ok
}

// promote tries until the shard has the segments that the record takes. To get
// them it gives up the lock; what was true before has to be asked again after.
func (t *Tier) promote(r *newRecord, token uint64, left *Left) bool {
	s := t.shardOf(r.hash)
	s.mu.Lock()
	for s.promotable(r, token) {
		missing := s.insert(r)
		if missing == 0 {
			s.count.Promoted++
			owes := s.owes()
			s.finish(r, left)
			if owes {
				t.reclaimAhead(s, left)
			}
			return true
		}
		s.unlock(left)
		got, err := t.acquire(s, r, missing, left)
		s.mu.Lock()
		s.addSpare(got)
		if err != nil {
			break
		}
	}
	s.finish(r, left)
	return false
}

// promotable reports whether the record may be stored now. It takes a record of
// the key out that is past its grace.
func (s *shard) promotable(r *newRecord, token uint64) bool {
	t := s.tier
	if s.closed || t.below == nil || !t.fits(r) || t.past(r.deadline) {
		return false
	}
	if b, slot, old, found := s.find(r.hash, r.key); found {
		if !t.gone(&old) {
			return false
		}
		s.remove(r.hash, b, slot, &old, Expired)
		s.count.Expired++
	}
	return t.below.Holds(r.hash, token)
}

// Offer offers the live record of a key to the tier below, as one that was read,
// and keeps it. It reports whether the tier below holds it now.
func (t *Tier) Offer(hash uint64, key []byte) bool {
	s := t.shardOf(hash)
	s.mu.Lock()
	_, _, r, ok := s.find(hash, key)
	ok = ok && !t.expired(&r)
	there := ok && s.copyDown(hash, &r, 1)
	d := s.descentOf(r.off)
	s.mu.Unlock()
	if there || !ok || d == nil {
		return there
	}
	s.goDownPatiently()
	return d.done
}

// copyDown offers a record to the tier below and keeps it. It reports whether the
// tier below took it, or had it; a long one is on its way by then, see goDown.
func (s *shard) copyDown(hash uint64, r *stored, freq int) bool {
	t := s.tier
	if s.long(r) {
		return s.offer(hash, r, freq, true) == below
	}
	h := t.header(r.off)
	version := h.version.Load()
	h.version.Store(version | copyBelow) // before there is one
	return s.demote(hash, r, freq, version&copyBelow != 0)
}

// DemoteAll offers every live record to the tier below and keeps it; what
// Demote answers makes no difference. It begins with the coldest, as far as the
// queues tell: Small before Main, in both the oldest segments of every shard
// first. It locks one shard at a time, for one segment at a time. Of records
// that are stored or moved meanwhile some may be left out, or offered twice.
func (t *Tier) DemoteAll() { t.DemoteAllWhile(func() bool { return true }) }

// DemoteAllWhile is DemoteAll that calls more before every segment, with no lock
// held, and ends when that reports false. more may wait until the tier below
// has room.
func (t *Tier) DemoteAllWhile(more func() bool) {
	if t.below == nil {
		return
	}
	for q := range lanes {
		queues, longest := t.laneSegments(q)
		for i := range longest {
			for k, ids := range queues {
				if i >= len(ids) {
					continue
				}
				if !more() {
					return
				}
				t.shards[k].demoteSegment(ids[i])
				t.shards[k].goDownPatiently()
			}
		}
	}
}

// laneSegments are the segments of one lane, oldest first, by shard, and the
// length of the longest list.
func (t *Tier) laneSegments(q int) (queues [][]uint32, longest int) {
	queues = make([][]uint32, len(t.shards))
	for k := range t.shards {
		s := &t.shards[k]
		s.mu.Lock()
		if id := s.drain.id; id != 0 && int(t.segs[id].lane) == q {
			queues[k] = append(queues[k], id)
		}
		for id := s.queues[q].head; id != 0; id = t.segs[id].next {
			queues[k] = append(queues[k], id)
		}
		if id := s.lanes[q].seg; id != 0 {
			queues[k] = append(queues[k], id)
		}
		s.mu.Unlock()
		longest = max(longest, len(queues[k]))
	}
	return queues, longest
}

// demoteSegment offers the live records that start in a segment, if it is still
// the shard's.
func (s *shard) demoteSegment(id uint32) {
	s.mu.Lock()
	defer s.unlockAndReport()
	if s.closed || s.tier.segs[id].owner.Load() != s.number {
		return
	}
	s.eachLive(id, func(e *entry) {
		if start, _ := s.tier.segmentAt(e.rec.off); start == id && !s.tier.gone(&e.rec) {
			s.copyDown(e.hash, &e.rec, e.freq())
		}
	})
}
