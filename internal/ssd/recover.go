package ssd

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/firncache/firn/internal/aio"
	"github.com/firncache/firn/internal/vfs"
)

// recoveryPlan is what Open found in the files of a log that is kept.
type recoveryPlan struct {
	segments []found // newest first
	dead     []note  // what the journal says is dead, newest first
	reach    uint64  // the log was written up to here
	records  int     // listed by the segments that are sealed
	newest   uint64  // serial of the first segment; it is not changed while the tier is in use
	snapshot uint64

	done    chan struct{} // closed when the recovery has ended; nil if there is none
	stop    chan struct{}
	stopped sync.Once
}

// found is a segment on the disk.
type found struct {
	slot    int
	serial  uint64
	prev    uint64
	trailer trailer
	sealed  bool
}

// planRecovery reads the journal, and the beginning and end of every segment. It
// reports false if the system says that it lost some of what was written.
func (t *Tier) planRecovery() (ok bool, err error) {
	if t.journal.file.Sync() != nil {
		return false, nil
	}
	t.plan.snapshot = t.super.snapshot
	said, ok := t.readNotes()
	if !ok {
		return false, nil
	}
	t.expires.Store(true) // some of what is there may
	t.log.logID = t.super.logID
	all, last, ok := t.readEnds()
	if !ok {
		return false, nil
	}
	if missing := t.gap(all, said.dropped, max(said.floor, 1)); missing != 0 {
		said.floor = missing + 1
	}
	t.planSegments(all, &said)
	t.super.floor = said.floor
	t.recovering.Store(len(t.plan.segments) > 0)
	t.goOn(max(said.next, last+unseen, said.floor, t.plan.reach>>t.log.segShift+1))
	return true, nil
}

// said is what the journal says of segments.
type said struct {
	floor   uint64          // lower serials are dead
	dropped map[uint64]note // and so are these, by their serials
	next    uint64          // higher than any that it names
}

// readNotes reads the journal. It reports false if the log cannot be used
// without what it fails to read.
func (t *Tier) readNotes() (s said, ok bool) {
	p := &t.plan
	notes, whole, err := t.journal.read(t.super.logID)
	if err != nil {
		t.count.readErrors.Add(1)
		t.lines.warn("firn: SSD tier: the journal cannot be read", "error", err)
		return s, false
	}
	if !whole && t.cfg.Recovery != RecoverAlways {
		t.count.corrupt.Add(1)
		return s, false
	}
	s = said{t.super.floor, map[uint64]note{}, t.super.nextSeg}
	for _, n := range notes {
		switch n.kind {
		case noteDead:
			p.dead = append(p.dead, n)
			s.next = max(s.next, n.at>>t.log.segShift+1)
		case noteFloor:
			s.floor = max(s.floor, n.at)
		case noteDrop:
			s.dropped[n.at] = n
			s.next = max(s.next, n.at+1)
		case noteReach:
			p.reach = max(p.reach, n.at)
		case noteTime:
			t.skew.Store(max(t.skew.Load(), int64(n.at)-t.cfg.Now()))
		}
	}
	slices.SortStableFunc(p.dead, func(a, b note) int { return cmp.Compare(b.at, a.at) })
	return s, true
}

// planSegments plans to read those of the segments that are not dead, newest
// first.
func (t *Tier) planSegments(all []found, s *said) {
	p := &t.plan
	for _, f := range all {
		if _, gone := s.dropped[f.serial]; f.serial >= s.floor && !gone {
			p.segments = append(p.segments, f)
			p.records += f.trailer.count
		}
		t.skew.Store(max(t.skew.Load(), f.trailer.sealedAt-t.cfg.Now()))
	}
	slices.SortFunc(p.segments, func(a, b found) int { return cmp.Compare(b.serial, a.serial) })
	p.segments = slices.CompactFunc(p.segments, func(a, b found) bool { return a.serial == b.serial })
	if len(p.segments) > 0 {
		p.newest = p.segments[0].serial
	}
}

// goOn makes the log go on with a serial, beside the segments that are planned.
func (t *Tier) goOn(next uint64) {
	l, segments := t.log, t.plan.segments
	for _, f := range segments {
		s := &l.slots[f.slot]
		s.serial.Store(f.serial)
		s.sealed = f.sealed
	}
	for i := range l.slots {
		if l.slots[i].serial.Load() == 0 {
			l.free = append(l.free, int32(i))
		}
	}
	l.full.Store(len(l.free) <= l.ahead)
	l.next = next
	if len(segments) > 0 {
		l.prev = segments[0].serial
	}
	l.tail.Store(l.lsn(next, 0))
	l.flushed.Store(l.lsn(next, 0))
}

// unseen is by how much the serials that are used from now on are higher than
// any that was found: the last segments may be there and not be readable, and
// what is written over them must not pass for them.
const unseen = 16

// gap is the highest serial of a segment that the journal relied on and that is
// missing, 0 if none is: what is older could come back to life.
func (t *Tier) gap(all []found, dropped map[uint64]note, floor uint64) uint64 {
	prev := make(map[uint64]uint64, len(all))
	for serial, n := range dropped {
		if before, known := n.prev(); known {
			prev[serial] = before
		}
	}
	for _, f := range all {
		prev[f.serial] = f.prev
	}
	for want := t.plan.reach >> t.log.segShift; want >= floor; {
		before, ok := prev[want]
		if !ok {
			t.lines.warn("firn: SSD tier: a segment is missing; what is older is dropped", "segment", want)
			return want
		}
		want = before
	}
	return 0
}

// readEnds reads the headers and trailers of all slots. last is the highest
// serial of them. It reports false if it cannot tell what is in a slot, or at
// least make nothing of it: what cannot be read now may be there later.
func (t *Tier) readEnds() (all []found, last uint64, ok bool) {
	size := t.log.segBytes()
	const atOnce = 64
	reqs := make([]aio.Request, 0, 2*atOnce)
	empty, ok := vfs.Aligned(blockBytes, blockBytes), true
	for first := 0; first < len(t.log.slots); first += atOnce {
		reqs = reqs[:0]
		n := min(atOnce, len(t.log.slots)-first)
		for slot := first; slot < first+n; slot++ {
			base := int64(slot) << t.log.segShift
			reqs = append(reqs, aio.Request{Off: base, N: blockBytes}, aio.Request{Off: base + int64(size-blockBytes), N: blockBytes})
		}
		t.reader.ReadMany(background, reqs)
		for i := range n {
			f, is := t.parseEnds(&reqs[2*i], &reqs[2*i+1])
			last = max(last, f.serial, f.trailer.serial)
			if is {
				f.slot = first + i
				all = append(all, f)
			}
			if noHeader(&reqs[2*i]) {
				_, err := t.logFile.WriteAt(empty, reqs[2*i].Off)
				ok = ok && err == nil
			}
		}
		for i := range reqs {
			if b := reqs[i].Buf; b != nil {
				b.Release()
			}
		}
	}
	return all, last, ok
}

// noHeader reports whether a slot begins with what cannot be read, or is neither a
// header, of whatever log, nor zeros: it may yet prove to be one.
func noHeader(head *aio.Request) bool {
	if head.Err != nil {
		return true
	}
	b := head.Buf.Bytes()[:segmentHeaderLen]
	return !headerWhole(b) && slices.ContainsFunc(b, func(c byte) bool { return c != 0 })
}

// parseEnds tells which segment a slot has, if any: only its header does.
func (t *Tier) parseEnds(head, tail *aio.Request) (f found, ok bool) {
	size := t.log.segBytes()
	if head.Err != nil {
		t.count.readErrors.Add(1)
	} else {
		f.serial, f.prev, ok = parseSegmentHeader(head.Buf.Bytes(), t.super.logID, size)
	}
	if tail.Err != nil {
		t.count.readErrors.Add(1)
		return f, ok
	}
	tr, sealed := parseTrailer(tail.Buf.Bytes()[blockBytes-trailerLen:], t.super.logID, size)
	if sealed && (!ok || tr.serial == f.serial) {
		f.trailer, f.sealed = tr, true
	}
	return f, ok
}

// startRecovery loads the snapshot, or begins to read the log in the background.
func (t *Tier) startRecovery() {
	p := &t.plan
	if len(p.segments) == 0 {
		*p = recoveryPlan{}
		return
	}
	start := time.Now()
	t.allow(int64(p.records)*10 + 64<<10)
	if p.snapshot != 0 && p.sealed() {
		err := t.loadSnapshot(p.snapshot)
		if err == nil {
			t.lines.info("firn: SSD tier is back", "records", t.index.len(), "from", "snapshot", "took", time.Since(start).Round(time.Millisecond))
			*p = recoveryPlan{}
			t.recovering.Store(false)
			return
		}
		t.lines.warn("firn: SSD tier: the snapshot cannot be read; the log is", "error", err)
		t.index.clear(nil)
	}
	p.done, p.stop = make(chan struct{}), make(chan struct{})
	t.running.Add(1)
	go func() {
		defer t.running.Done()
		defer close(p.done)
		t.recover()
		t.lines.info("firn: SSD tier is back", "records", t.index.len(), "from", "log", "took", time.Since(start).Round(time.Millisecond))
	}()
}

// sealed reports whether no segment is left to be sealed by reading the log, as
// one is whose end could not be read: it would never be reclaimed.
func (p *recoveryPlan) sealed() bool {
	return !slices.ContainsFunc(p.segments, func(f found) bool { return !f.sealed })
}

// allow gives the index memory, as much of it as can be had.
func (t *Tier) allow(bytes int64) {
	more := min(bytes, t.index.most.Load()-t.index.allowed.Load())
	for more > 0 && t.chargeMemory(more) != nil {
		more /= 2
	}
}

// stopRecovery ends a recovery before its time, for Close: the log is whole, and
// the next Open begins anew.
func (t *Tier) stopRecovery() {
	p := &t.plan
	if p.done == nil {
		return
	}
	p.stopped.Do(func() { close(p.stop) })
	<-p.done
}

// WaitRecovered returns once all that the log held at Open is in the index: at
// once, unless it is being read in the background. Close ends the waiting.
func (t *Tier) WaitRecovered() { _ = t.AwaitRecovered(context.Background()) }

// AwaitRecovered is WaitRecovered with a context, of which it returns the error
// if that ends first.
func (t *Tier) AwaitRecovered(ctx context.Context) error {
	if !t.recovering.Load() {
		return nil
	}
	select {
	case <-t.plan.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *recoveryPlan) asked() bool {
	select {
	case <-p.stop:
		return true
	default:
		return false
	}
}

// recover reads what the segments list, newest first, and indexes every id that
// is not in the index yet: not as a later record, written since or before, and
// not as a grave, which says that it was dead by then. Reads are served
// meanwhile; whatever they find is the latest.
//
// If it returns before it has met all that the disk does not say is dead, the
// tier is still recovering: writes note every key, and Close saves no snapshot.
func (t *Tier) recover() {
	p := &t.plan
	t.index.presize(p.records)
	w := [recoverers]recoverer{}
	for i := range w {
		w[i] = recoverer{tier: t, part: i}
	}
	ahead, stop := t.readAhead(p.segments)
	defer stop()
	for i := range p.segments {
		if p.asked() {
			return
		}
		r := <-ahead
		f := r.found
		if !r.ok {
			t.count.corrupt.Add(1)
			if f.serial > p.reach>>t.log.segShift && t.journal.canDrop() {
				if !t.forgetOnDisk(f) { // what it says is dead stands in the journal
					return
				}
				continue
			}
			t.lines.warn("firn: SSD tier: a segment cannot be read; what is older is dropped", "segment", f.serial)
			stop()
			if !t.dropFrom(p.segments[i:]) {
				return
			}
			break
		}
		var all sync.WaitGroup
		for k := range w {
			all.Go(func() { w[k].segment(f, r.recs, r.tombs) })
		}
		all.Wait()
		t.count.recovered.Add(1)
		if t.index.full() {
			t.lines.warn("firn: SSD tier: no memory to index more of the log; what is older is dropped", "segment", f.serial)
			stop()
			if !t.dropFrom(p.segments[i:]) {
				return
			}
			break
		}
	}
	t.recovering.Store(false)
	t.index.each(func(_ id, e entry) entry {
		if t.index.grave(e) {
			return 0
		}
		return e
	})
	p.segments, p.dead = nil, nil
	t.poke()
}

// segmentRead is a segment and which records it has.
type segmentRead struct {
	found
	recs  []listed
	tombs map[uint32][]id
	ok    bool
}

// readAhead reads the lists of segments, in order, while others are applied. When
// stop returns it does so no more: it may write to the slots of the segments that
// it reads, which nobody else may have by then.
func (t *Tier) readAhead(segs []found) (ahead <-chan segmentRead, stop func()) {
	out := make(chan segmentRead, 1)
	quit, ended := make(chan struct{}), make(chan struct{})
	t.running.Go(func() {
		defer close(ended)
		for _, f := range segs {
			r := segmentRead{found: f}
			r.recs, r.tombs, r.ok = t.segmentRecords(&r.found)
			select {
			case out <- r:
			case <-quit:
				return
			}
		}
	})
	return out, sync.OnceFunc(func() {
		close(quit)
		<-ended
	})
}

// recoverers is how many goroutines fill the index, each a part of its shards.
const recoverers = 2

// prefetchAhead is how many records before its turn a record's place in the index
// begins to be loaded.
const prefetchAhead = 16

type recoverer struct {
	tier *Tier
	part int
	dead int // how many of the plan's notes it has applied
}

func (w *recoverer) mine(x id) bool {
	return int(x>>(idBits-w.tier.index.shardBits))%recoverers == w.part
}

// segment applies a segment, from its end to its beginning, and the journal's
// notes in their places between its records.
func (w *recoverer) segment(f found, recs []listed, tombs map[uint32][]id) {
	t := w.tier
	for i := len(recs) - 1; i >= 0; i-- {
		if i >= prefetchAhead && w.mine(recs[i-prefetchAhead].id) {
			t.index.prefetch(recs[i-prefetchAhead].id)
		}
		r := &recs[i]
		w.notes(t.log.lsn(f.serial, int(r.offset)))
		if r.tombstones {
			for _, x := range tombs[r.offset] {
				w.bury(x)
			}
			continue
		}
		if !w.mine(r.id) {
			continue
		}
		s := t.index.shardOf(r.id)
		s.mu.Lock()
		if _, ok := s.find(r.id); !ok && s.unknown == 0 {
			if t.index.room(s) {
				s.put(s.newEntry(r.id, t.log.location(f.slot, int(r.offset)), int(r.bytes)))
			} else {
				s.unknown = f.serial // an older record must not take the place of this one
			}
		}
		s.mu.Unlock()
	}
}

// notes applies the journal's notes that kill what lies before an LSN.
func (w *recoverer) notes(lsn uint64) {
	dead := w.tier.plan.dead
	for ; w.dead < len(dead) && dead[w.dead].at > lsn; w.dead++ {
		w.bury(dead[w.dead].id)
	}
}

func (w *recoverer) bury(x id) {
	if !w.mine(x) {
		return
	}
	s := w.tier.index.shardOf(x)
	s.mu.Lock()
	if _, ok := s.find(x); !ok {
		w.tier.bury(s, x)
	}
	s.mu.Unlock()
}

// forgetOnDisk drops one segment, for good. It reports false if the disk cannot
// be told.
func (t *Tier) forgetOnDisk(f found) bool {
	if err := t.journal.commitNow(dropNote(f.serial, f.prev)); err != nil {
		t.switchOff(err)
		return false
	}
	t.log.release(f.slot)
	return true
}

// dropFrom drops segments and everything older, for good. Of the first of them
// some may be in the index. It reports false if the disk cannot be told.
func (t *Tier) dropFrom(segs []found) bool {
	if err := t.sayDead(segs[0].serial); err != nil {
		t.switchOff(err)
		return false
	}
	t.forget(segs[0].slot)
	for _, f := range segs {
		t.log.release(f.slot)
	}
	return true
}
