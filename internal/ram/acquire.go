package ram

import (
	"github.com/firncache/firn/internal/evicted"
	"github.com/firncache/firn/internal/ram/segments"
)

// A write that lacks segments takes the free ones and makes room for the rest. It
// holds them meanwhile, and others hold theirs. So that no write waits for another's
// segments, a write gives back all that it holds before it waits, be it for a segment
// or for the lower tier: a waiting write holds nothing, and one that holds something
// goes on.

// acquire finds n segments for a shard, reclaiming as many as it must; the records
// that are evicted are added to ev. It may return fewer: the caller calls it again for
// the missing ones then. ErrNoRoom says that there are not so many: nothing can be
// evicted any more, and no other write holds any. The caller holds no shard's lock.
func (t *Tier) acquire(s *shard, r *newRecord, n int, ev *evicted.List) (got segments.Chain, err error) {
	if n == 2 { // which is common, and mostly there
		if t.pool.TakeFor(&r.claim, &got, n, true); got.N == n {
			return got, nil
		}
	}
	got, err = t.collect(s, r, n, ev)
	switch {
	case err == errDemoteFirst:
		t.standBack(s, r, got, ev)
		t.finishDemotions(ev)
	case err == errLowerBusy && !r.promoted:
		t.standBack(s, r, got, ev)
		t.awaitLower(r)
	default:
		return got, err
	}
	return segments.Chain{}, nil
}

// refill is acquire for a writer that goes on if it may. It is called with the shard locked, gives
// the lock up and takes it again: what the writer has found has to be found again.
func (s *shard) refill(r *newRecord, missing int, ev *evicted.List) error {
	s.unlock(ev)
	got, err := s.tier.acquire(s, r, missing, ev)
	s.mu.Lock()
	s.addSpare(got)
	return err
}

// collect is acquire that does not wait for the lower tier, but returns errLowerBusy
// or errDemoteFirst.
func (t *Tier) collect(s *shard, r *newRecord, n int, ev *evicted.List) (got segments.Chain, err error) {
	if n > 2 || n > 1 && !r.promoted { // one at a time, else everything is evicted for parts of each one's need
		switch {
		case r.promoted:
			if !t.large.TryLock() {
				return got, errLowerBusy
			}
		case r.claim.Held:
			t.standBack(s, r, got, ev)
			return segments.Chain{}, nil
		default:
			t.large.Lock()
		}
		defer t.large.Unlock()
	}
	for {
		event := t.pool.TakeFor(&r.claim, &got, n, r.claim.All)
		if got.N == n {
			return got, nil
		}
		if t.closed.Load() || !t.fits(r) { // closed, or the budget was lowered meanwhile
			return got, t.refusal()
		}
		switch freed, err := t.makeRoom(s, r, ev); {
		case err != nil:
			return got, err
		case freed:
			r.claim.All = false
		case r.claim.Held:
			r.claim.All = true
			t.standBack(s, r, got, ev)
			return segments.Chain{}, nil
		case t.pool.Await(event):
		case t.closed.Load(): // which is why nothing could be reclaimed
			return got, ErrClosed
		default:
			return got, ErrNoRoom
		}
	}
}

// standBack gives back all segments that a write holds.
func (t *Tier) standBack(s *shard, r *newRecord, got segments.Chain, ev *evicted.List) {
	s.mu.Lock()
	s.addSpare(got)
	s.endWrite(r, ev)
}

// makeRoom frees about a segment of some shard for a record. It reports false if
// no shard holds any. errLowerBusy says that the lower tier cannot take the records
// that would be demoted: the writer has to wait for it, or promotes a record, for
// which nothing is worth losing. A writer that has waited long enough goes on, and
// records may be dropped. The caller holds no shard's lock.
func (t *Tier) makeRoom(s *shard, r *newRecord, ev *evicted.List) (freed bool, err error) {
	freed, may := t.victimShard(s).reclaim(ev, func() bool {
		return !r.promoted && r.waited == noWait || t.lowerReady()
	})
	if !may {
		return false, errLowerBusy
	}
	if ev.DemoteFirst != 0 {
		return false, errDemoteFirst
	}
	return freed, nil
}

// awaitLower waits until the lower tier has room for demotions, or the record's writer
// has waited long enough. The caller holds no lock and no segment.
func (t *Tier) awaitLower(r *newRecord) {
	var ok bool
	if r.waited, ok = t.lower.WaitForRoom(r.waited); !ok {
		r.waited = noWait
	}
}

// letLower is awaitLower where the lower tier is not ready, unless that was waited for long enough.
func (t *Tier) letLower(r *newRecord) {
	if r.waited != noWait && !t.lowerReady() {
		t.awaitLower(r)
	}
}

// endWrite ends a write, stored or not: it gives back the segments that were not
// needed, and releases the shard.
func (s *shard) endWrite(r *newRecord, ev *evicted.List) {
	s.returnSpare()
	s.unlock(ev)
	s.tier.pool.EndClaim(&r.claim)
}

// refusal is why a record is not stored.
func (t *Tier) refusal() error {
	if t.closed.Load() {
		return ErrClosed
	}
	return ErrTooLarge
}
