package ram

import "sync"

// pool holds the segments that no shard uses.
type pool struct {
	mu          sync.Mutex
	segs        []segment
	recycled    chain  // free segments that were used before
	decommitted chain  // likewise, but their memory was given back to the system
	fresh       uint32 // segments from here up were never used
	limit       int    // how many segments may be in use at once
	target      int    // the limit that is wanted; limit is above it while the tier shrinks
	used        int    // how many are
	reclaimOnly int    // how many of the limit only reclaiming may take

	holders int       // writes that took segments, and have yet to use all or to give them back
	events  uint64    // the number of changes that may help a write that found nothing to take, nor to reclaim
	changed sync.Cond // tells of events

	perPage uint32 // segments that share a page of memory, a power of two

	ready      uint32        // segments below are ready for use without a page fault
	prefaulted uint32        // how many segments were made ready before their first use
	wake       chan struct{} // tells the prefaulter to look; nil without one
}

func (p *pool) init(segs []segment, perPage uint32) {
	p.segs, p.perPage = segs, perPage
	p.fresh = 1 // 0 is none
	p.changed.L = &p.mu
}

// take moves up to n segments into c, for a shard that is made or that reclaims:
// that gives back more than it takes, and so may use the reserve.
func (p *pool) take(c *chain, n int) (taken int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.takeLocked(c, n, p.limit)
}

// takeLocked moves up to n segments into c while fewer than limit are in use.
func (p *pool) takeLocked(c *chain, n, limit int) (taken int) {
	for taken < n && p.used < limit {
		var id uint32
		switch {
		case p.recycled.n > 0:
			id = p.recycled.pop(p.segs)
		case p.decommitted.n > 0:
			id = p.decommitted.pop(p.segs)
		case int(p.fresh) < len(p.segs):
			id = p.fresh
			p.fresh++
			p.wakePrefaulter()
		default:
			return taken
		}
		p.used++
		taken++
		c.push(p.segs, id)
	}
	return taken
}

// give takes a segment back.
func (p *pool) give(id uint32) {
	p.mu.Lock()
	p.recycled.push(p.segs, id)
	p.used--
	p.noteEvent()
	p.mu.Unlock()
}

// resident is the number of segments that may be backed by memory.
func (p *pool) resident() int { return int(max(p.fresh, p.ready)) - 1 - p.decommitted.n }

// aim sets how many segments may be in use. If it is fewer than now, lower has to
// be called until they are.
func (p *pool) aim(target int) {
	p.target = target
	if target > p.limit {
		p.setLimit(target)
	}
}

func (p *pool) setLimit(n int) { p.limit, p.reclaimOnly = n, reclaimOnlyOf(n) }

// reclaimOnlyOf is how many of a limit only reclaiming may take.
func reclaimOnlyOf(limit int) int { return max(2, limit/256) }

// lower brings the limit nearer to the target, and returns how many segments may
// be in use then. That is at most a step fewer than are in use now: a write that needs
// a segment meanwhile has to reclaim no more than that before it gets one. It
// reports false once the target is reached.
func (p *pool) lower(step int) (goal int, more bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.used <= p.target {
		p.setLimit(p.target)
		return p.target, false
	}
	goal = max(p.target, p.used-step)
	p.setLimit(max(p.target, min(p.limit, goal+reclaimOnlyOf(goal))))
	return goal, true
}

// trimmableLocked is how many segments trim would give back. The caller holds mu.
func (p *pool) trimmableLocked(keepSpare bool) int {
	most := 0
	if keepSpare {
		most = p.target
	}
	return min(p.resident()-most, p.recycled.n+max(int(p.ready)-int(p.fresh), 0))
}

// trimmable is how many free segments have memory, or if they may keep it, how many
// more have any than may be in use.
func (p *pool) trimmable(keepSpare bool) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.trimmableLocked(keepSpare)
}

// over reports whether more segments are in use than goal.
func (p *pool) over(goal int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.used > goal
}

// overTarget reports whether more segments than the target are in use, or may be
// before lower is called.
func (p *pool) overTarget() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(p.used, p.limit) > p.target
}

// wakePrefaulter sends a signal that is not waited for.
func (p *pool) wakePrefaulter() {
	if p.wake == nil {
		return
	}
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// nextToPrefault is the range of up to step segments to make ready next, empty
// if those ahead of use are ready already. Free ones that were used before are
// taken first, so that none above limit comes to use.
func (p *pool) nextToPrefault(ahead, step uint32) (from, to uint32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	from = max(p.ready, p.fresh)
	end := min(p.fresh+ahead, uint32(p.limit)+1, uint32(len(p.segs)))
	return from, max(from, min(from+step, end))
}

func (p *pool) prefaultDone(to uint32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if from := max(p.ready, p.fresh); to > from {
		p.prefaulted += to - from
		p.ready = to
	}
}

// short reports whether writes can take fewer than n segments.
func (p *pool) short(n int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.used+n > p.limit-p.reclaimOnly
}

// claim is a write's claim on segments of the pool.
type claim struct {
	held bool // the write is one of the pool's holders
	all  bool // it takes all segments that it lacks, or none
}

// takeFor takes for a write the segments that c lacks of n, as far as there are any,
// or with all either all of them or none. It returns the number of events so far.
func (p *pool) takeFor(cl *claim, c *chain, n int, all bool) (event uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	limit := p.limit - p.reclaimOnly
	if all && p.used+n-c.n > limit {
		return p.events
	}
	if p.takeLocked(c, n-c.n, limit) > 0 && !cl.held {
		cl.held = true
		p.holders++
	}
	return p.events
}

// endClaim ends a write's holding of segments: it has used or given back all.
func (p *pool) endClaim(cl *claim) {
	if !cl.held {
		return
	}
	cl.held = false
	p.mu.Lock()
	defer p.mu.Unlock()
	p.holders--
	p.noteEvent()
}

// await waits for an event after the one of that number. It reports false if
// there will be none: no write holds segments. The caller holds none either.
func (p *pool) await(event uint64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.events == event {
		if p.holders == 0 {
			return false
		}
		p.changed.Wait()
	}
	return true
}

// lastEvent is the number of events so far.
func (p *pool) lastEvent() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.events
}

// noteEvent tells waiting writes to look again. The caller holds mu.
func (p *pool) noteEvent() {
	p.events++
	p.changed.Broadcast()
}

// wakeWriters is noteEvent for a caller that does not hold mu.
func (p *pool) wakeWriters() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.noteEvent()
}
