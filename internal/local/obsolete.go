package local

import "sync/atomic"

// obsoleteRecords recognizes records without a reader that were not deleted, and those that are stale before
// their deadline.
type obsoleteRecords struct {
	value    func(key, head []byte) (obsolete bool, since int64)
	negative func(value []byte) bool // nil: none is
}

// SetObsolete tells the store of records that nobody wants any more and that were not
// deleted: judge is shown a record's key and the first bytes of its value, of at
// least 256 if it has so many. Such a record is not demoted, promoted or moved any more, and
// Peek does not find it; the other reads do, for they do not ask. One that judge reports to be stale
// since a moment other than 0 is stale from then on for Peek, whatever its deadline, and obsolete when
// the grace is over. A negative entry is an
// answer as long as negative does not say that it may be obsolete; nil stands for none.
// Neither must use the store, nor keep it from being collected; both are called under locks.
func (s *Store) SetObsolete(judge func(key, head []byte) (obsolete bool, since int64), negative func(value []byte) bool) {
	now, grace := s.now, s.grace
	value := func(key, head []byte) (obsolete bool, since int64) {
		obsolete, since = judge(key, head)
		if since != 0 {
			obsolete = isPastGrace(since, now(), grace)
		}
		return obsolete, since
	}
	isObsolete := func(key, head []byte) bool {
		obsolete, _ := value(key, head)
		return obsolete
	}
	s.obsolete.Store(&obsoleteRecords{value, negative})
	s.RAM.SetObsolete(isObsolete)
	if s.ssd != nil {
		s.ssd.tier.SetObsolete(isObsolete)
	}
	s.KeepAlive()
}

// isPastGrace reports whether a value that is stale since a moment is no answer any more. ExpireTag
// notes no moment to come, except by the difference of two readings of the clock: such a moment is
// of damaged memory, and the grace would have no end.
func isPastGrace(since, now int64, grace *atomic.Int64) bool {
	const apart = 60_000
	return since+grace.Load() <= now || since-apart > now
}

// IsPastGrace reports whether a value that is stale since a moment is no answer any more.
func (s *Store) IsPastGrace(since int64) bool { return isPastGrace(since, s.now(), s.grace) }

// judge reports whether a record with this value is obsolete, and otherwise since when it is stale, whatever
// its deadline: 0 if it is not.
func (s *Store) judge(key, value []byte) (obsolete bool, since int64) {
	if o := s.obsolete.Load(); o != nil {
		return o.value(key, value)
	}
	return false, 0
}

// IsObsolete reports whether nobody wants a record any more that has this value.
func (s *Store) IsObsolete(key, value []byte) bool {
	obsolete, _ := s.judge(key, value)
	return obsolete
}

// IsOutdated reports whether a record with this value is obsolete, or stale whatever its deadline.
func (s *Store) IsOutdated(key, value []byte) bool {
	obsolete, since := s.judge(key, value)
	return obsolete || since != 0
}

// IsNegativeObsolete reports whether a negative entry with this value may be obsolete.
func (s *Store) IsNegativeObsolete(value []byte) bool {
	o := s.obsolete.Load()
	return o != nil && o.negative != nil && len(value) > 0 && o.negative(value)
}
