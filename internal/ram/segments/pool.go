package segments

import "sync"

// Pool holds the segments that no shard uses. Its fields are guarded by its lock, which is
// held for a few instructions at a time.
type Pool struct {
	sync.Mutex
	segs        []Segment
	recycled    Chain  // free segments that were used before
	decommitted Chain  // likewise, but their memory was given back to the system
	Fresh       uint32 // segments from here up were never used
	Limit       int    // how many segments may be in use at once
	Target      int    // the limit that is wanted; Limit is above it while the tier shrinks
	Used        int    // how many are
	ReclaimOnly int    // how many of the limit only reclaiming may take

	Holders int       // writes that took segments, and have yet to use all or to give them back
	events  uint64    // the number of changes that may help a write that found nothing to take, nor to reclaim
	changed sync.Cond // an event

	perPage uint32 // segments that share a page of memory, a power of two

	ready      uint32        // segments below are ready for use without a page fault
	Prefaulted uint32        // how many segments were made ready before their first use
	Wake       chan struct{} // wakes the prefaulter; nil without one
}

func (p *Pool) Init(segs []Segment, perPage uint32) {
	p.segs, p.perPage = segs, perPage
	p.Fresh = 1 // 0 is none
	p.changed.L = &p.Mutex
}

// Take moves up to n segments into c, for a shard that is made or that reclaims:
// that gives back more than it takes, and so may use the reserve.
func (p *Pool) Take(c *Chain, n int) (taken int) {
	p.Lock()
	defer p.Unlock()
	return p.takeLocked(c, n, p.Limit)
}

// takeLocked moves up to n segments into c while fewer than limit are in use.
func (p *Pool) takeLocked(c *Chain, n, limit int) (taken int) {
	for taken < n && p.Used < limit {
		var id uint32
		switch {
		case p.recycled.N > 0:
			id = p.recycled.Pop(p.segs)
		case p.decommitted.N > 0:
			id = p.decommitted.Pop(p.segs)
		case int(p.Fresh) < len(p.segs):
			id = p.Fresh
			p.Fresh++
			p.WakePrefaulter()
		default:
			return taken
		}
		p.Used++
		taken++
		c.Push(p.segs, id)
	}
	return taken
}

// Give takes a segment back.
func (p *Pool) Give(id uint32) {
	p.Lock()
	p.recycled.Push(p.segs, id)
	p.Used--
	p.NoteEvent()
	p.Unlock()
}

// Touched is one more than the highest segment that was ever used.
func (p *Pool) Touched() uint32 {
	p.Lock()
	defer p.Unlock()
	return p.Fresh
}

// Resident is the number of segments that may be backed by memory.
func (p *Pool) Resident() int { return int(max(p.Fresh, p.ready)) - 1 - p.decommitted.N }

// Aim sets how many segments may be in use. If it is fewer than now, Lower has to
// be called until they are.
func (p *Pool) Aim(target int) {
	p.Target = target
	if target > p.Limit {
		p.setLimit(target)
	}
}

func (p *Pool) setLimit(n int) { p.Limit, p.ReclaimOnly = n, reclaimOnlyOf(n) }

// reclaimOnlyOf is how many of a limit only reclaiming may take.
func reclaimOnlyOf(limit int) int { return max(2, limit/256) }

// ForWrites is how many segments writes may take once the target is reached. The caller
// holds the lock.
func (p *Pool) ForWrites() int { return p.Target - reclaimOnlyOf(p.Target) }

// Lower brings the limit nearer to the target, and returns how many segments may
// be in use then. That is at most a step fewer than are in use now: a write that needs
// a segment meanwhile has to reclaim no more than that before it gets one. It
// reports false once the target is reached.
func (p *Pool) Lower(step int) (goal int, more bool) {
	p.Lock()
	defer p.Unlock()
	if p.Used <= p.Target {
		p.setLimit(p.Target)
		return p.Target, false
	}
	goal = max(p.Target, p.Used-step)
	p.setLimit(max(p.Target, min(p.Limit, goal+reclaimOnlyOf(goal))))
	return goal, true
}

// trimmableLocked is how many segments trim would give back. The caller holds the lock.
func (p *Pool) trimmableLocked(keepSpare bool) int {
	most := 0
	if keepSpare {
		most = p.Target
	}
	return min(p.Resident()-most, p.recycled.N+max(int(p.ready)-int(p.Fresh), 0))
}

// Trimmable is how many free segments have memory, or if they may keep it, how many
// more have any than may be in use.
func (p *Pool) Trimmable(keepSpare bool) int {
	p.Lock()
	defer p.Unlock()
	return p.trimmableLocked(keepSpare)
}

// Over reports whether more segments are in use than goal.
func (p *Pool) Over(goal int) bool {
	p.Lock()
	defer p.Unlock()
	return p.Used > goal
}

// OverTarget reports whether more segments than the target are in use, or may be
// before Lower is called.
func (p *Pool) OverTarget() bool {
	p.Lock()
	defer p.Unlock()
	return max(p.Used, p.Limit) > p.Target
}

// WakePrefaulter sends a signal that is not waited for.
func (p *Pool) WakePrefaulter() {
	if p.Wake == nil {
		return
	}
	select {
	case p.Wake <- struct{}{}:
	default:
	}
}

// NextToPrefault is the range of up to step segments to make ready next, empty
// if those ahead of use are ready already. Free ones that were used before are
// taken first, so that none above limit comes to use.
func (p *Pool) NextToPrefault(ahead, step uint32) (from, to uint32) {
	p.Lock()
	defer p.Unlock()
	from = max(p.ready, p.Fresh)
	end := min(p.Fresh+ahead, uint32(p.Limit)+1, uint32(len(p.segs)))
	return from, max(from, min(from+step, end))
}

func (p *Pool) PrefaultDone(to uint32) {
	p.Lock()
	defer p.Unlock()
	if from := max(p.ready, p.Fresh); to > from {
		p.Prefaulted += to - from
		p.ready = to
	}
}

// Short reports whether writes can take fewer than n segments.
func (p *Pool) Short(n int) bool {
	p.Lock()
	defer p.Unlock()
	return p.Used+n > p.Limit-p.ReclaimOnly
}

// Claim is a write's claim on segments of the pool.
type Claim struct {
	Held bool // the write is one of the pool's holders
	All  bool // it takes all segments that it lacks, or none
}

// TakeFor takes for a write the segments that c lacks of n, as far as there are any,
// or with all either all of them or none. It returns the number of events so far.
func (p *Pool) TakeFor(cl *Claim, c *Chain, n int, all bool) (event uint64) {
	p.Lock()
	defer p.Unlock()
	limit := p.Limit - p.ReclaimOnly
	if all && p.Used+n-c.N > limit {
		return p.events
	}
	if p.takeLocked(c, n-c.N, limit) > 0 && !cl.Held {
		cl.Held = true
		p.Holders++
	}
	return p.events
}

// EndClaim ends a write's holding of segments: it has used or given back all.
func (p *Pool) EndClaim(cl *Claim) {
	if !cl.Held {
		return
	}
	cl.Held = false
	p.Lock()
	defer p.Unlock()
	p.Holders--
	p.NoteEvent()
}

// Await waits for an event after the one of that number. It reports false if
// there will be none: no write holds segments. The caller holds none either.
func (p *Pool) Await(event uint64) bool {
	p.Lock()
	defer p.Unlock()
	for p.events == event {
		if p.Holders == 0 {
			return false
		}
		p.changed.Wait()
	}
	return true
}

// LastEvent is the number of events so far.
func (p *Pool) LastEvent() uint64 {
	p.Lock()
	defer p.Unlock()
	return p.events
}

// NoteEvent wakes waiting writes, to look again. The caller holds the lock.
func (p *Pool) NoteEvent() {
	p.events++
	p.changed.Broadcast()
}

// WakeWriters is noteEvent for a caller that does not hold the lock.
func (p *Pool) WakeWriters() {
	p.Lock()
	defer p.Unlock()
	p.NoteEvent()
}
