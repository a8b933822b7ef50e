package ram

// evictOrDemote lets a live record go for want of room: to the tier below, if it takes
// it, which it has done before the entry goes here, so that the record is never
// in neither.
func (s *shard) evictOrDemote(e *entry) {
	to := rejected
	switch {
	case s.demotesInParts(&e.rec):
		to = s.beginDemotion(e.hash, &e.rec, e.freq(), false)
	case s.demote(e.hash, &e.rec, e.freq(), s.tier.mayHaveLowerCopy(&e.rec)):
		to = demoted
	}
	switch to {
	case demoted:
		s.takeOut(e.hash, e.bucket, e.slot, &e.rec)
		s.count.Demoted++
	case rejected:
		s.remove(e.hash, e.bucket, e.slot, &e.rec, Capacity)
		s.count.Evicted++
	}
}

// demote offers a record to the tier below, unless it is hidden; copied says that it
// may be there. It reports whether that took it.
func (s *shard) demote(hash uint64, r *stored, freq int, copied bool) bool {
	t := s.tier
	if t.lower == nil || t.deadline(r) < 0 {
		return false
	}
	key, value := s.keyValue(r)
	return t.lower.Demote(hash, key, value, t.deadline(r), s.wasRead(r, freq), copied)
}

// wasRead reports whether the record was read since its key came here, or came by
// being read below.
func (s *shard) wasRead(r *stored, freq int) bool {
	return freq > 0 || s.tier.header(r.off).version.Load()&wasRead != 0
}

// Offer offers the live record of a key to the tier below, as one that was read,
// and keeps it. It reports whether the tier below holds it now.
func (t *Tier) Offer(hash uint64, key []byte) bool {
	s := t.shardOf(hash)
	s.mu.Lock()
	_, _, r, ok := s.find(hash, key)
	ok = ok && !t.expired(&r)
	there := ok && s.demoteCopy(hash, &r, 1)
	d := s.demotions.at(r.off)
	s.mu.Unlock()
	if there || !ok || d == nil {
		return there
	}
	s.finishDemotionsPatiently()
	return d.done
}

// demoteCopy offers a record to the tier below and keeps it. It reports whether the
// tier below took it, or had it; a long one is on its way by then, see finishDemotions.
func (s *shard) demoteCopy(hash uint64, r *stored, freq int) bool {
	t := s.tier
	if s.demotesInParts(r) {
		return s.beginDemotion(hash, r, freq, true) == demoted
	}
	h := t.header(r.off)
	version := h.version.Load()
	h.version.Store(version | lowerCopy) // before there is one
	return s.demote(hash, r, freq, version&lowerCopy != 0)
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
	if t.lower == nil {
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
				t.shards[k].finishDemotionsPatiently()
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
		if start, _ := s.tier.segmentAt(e.rec.off); start == id && !s.tier.pastGrace(&e.rec) {
			s.demoteCopy(e.hash, &e.rec, e.freq())
		}
	})
}

// demotesInParts reports whether the record goes down in parts.
func (s *shard) demotesInParts(r *stored) bool {
	return r.shape.KeyLen()+r.valueLen > s.tier.maxDemote
}

// beginDemotion begins to send a long record down. It goes when somebody calls finishDemotions.
func (s *shard) beginDemotion(hash uint64, r *stored, freq int, stays bool) demoteResult {
	if d := s.demotions.at(r.off); d != nil {
		d.stays = d.stays && stays
		return pending
	}
	deadline := s.tier.deadline(r)
	if deadline < 0 {
		return rejected
	}
	to, there := s.tier.lowerInParts.DemoteParts(hash, r.shape.KeyLen(), r.valueLen, deadline, s.wasRead(r, freq), s.tier.mayHaveLowerCopy(r))
	switch {
	case there:
		return demoted
	case to == nil:
		return rejected
	}
	s.demotions = append(s.demotions, &pendingDemotion{hash: hash, off: r.off, to: to, stays: stays})
	return pending
}
