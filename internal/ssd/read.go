package ssd

import (
	"context"
	"errors"
	"slices"

	"github.com/klauspost/compress/s2"

	"github.com/firncache/firn/bufpool"
	"github.com/firncache/firn/internal/aio"
	"github.com/firncache/firn/internal/ssd/format"
)

// What a read may end with, beside the errors of the disk and the context, and
// ErrTimeout and ErrBusy.
var (
	ErrNotFound = errors.New("ssd: not found")
	// ErrChanged says that the key was written while it was read: look above, and
	// here again.
	ErrChanged = errors.New("ssd: changed meanwhile")
)

// Found is what a read found.
type Found struct {
	Value    []byte // appended to dst, or a view, see the call
	Deadline int64  // milliseconds since 1970; 0: never
	Token    uint64 // for Holds

	head format.Head // of a value that is to be read in parts; parts is 0 for others
}

// spot is where a record is to be read.
type spot struct {
	id    format.ID
	entry format.Entry
	loc   format.Location
	slot  int
	off   int
	lsn   uint64
	stale bool // a value past its deadline will do, within Config.Grace
	waits bool // for a slow disk, as long as the context lets it
	touch bool // it counts as a read
	peek  bool // without the value
}

// look finds the spot of a key's record. It counts as a read of it, if touch is
// set.
func (t *Tier) look(hash uint64, touch bool) (sp spot, ok bool) {
	if t.state.Load() != on {
		return sp, false
	}
	sp.id = t.ids.Of(hash)
	s := t.index.shardOf(sp.id)
	s.mu.Lock()
	defer s.mu.Unlock()
	at, e, ok := s.search(s.FingerprintOf(sp.id))
	if !ok {
		return sp, false
	}
	if touch && !e.Read() {
		s.slots[at] |= format.ReadBit
	}
	sp.touch = touch
	t.locate(s, &sp, e)
	return sp, true
}

// locate makes the spot that of an entry. The caller holds the shard's lock.
func (t *Tier) locate(s *shard, sp *spot, e format.Entry) {
	sp.entry, sp.loc = e, s.Location(e)
	sp.slot, sp.off = t.log.Place(sp.loc)
	sp.lsn = t.log.LSN(t.log.words[sp.slot].Serial.Load(), sp.off)
}

// still reports whether the index names the spot's record yet.
func (t *Tier) still(sp *spot) bool {
	s := t.index.shardOf(sp.id)
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.find(sp.id)
	return ok && s.Location(e) == sp.loc && t.log.lsnAt(s.Location(e)) == sp.lsn
}

// Get appends the value of key to dst. Without one, the error is ErrNotFound,
// and for a key that was written meanwhile ErrChanged; otherwise it is the
// context's or the disk's.
func (t *Tier) Get(ctx context.Context, dst, key []byte, hash uint64) (Found, error) {
	sp, ok := t.look(hash, true)
	if !ok {
		return Found{}, ErrNotFound
	}
	return t.readSpot(ctx, dst, key, &sp)
}

// GetWaiting is Get that waits for a slow disk until the context ends.
func (t *Tier) GetWaiting(ctx context.Context, dst, key []byte, hash uint64) (Found, error) {
	sp, ok := t.look(hash, true)
	if !ok {
		return Found{}, ErrNotFound
	}
	sp.waits = true
	return t.readSpot(ctx, dst, key, &sp)
}

// GetStale is Get that also finds what expired no more than Config.Grace ago. It
// does not count as a read.
func (t *Tier) GetStale(ctx context.Context, dst, key []byte, hash uint64) (Found, error) {
	sp, ok := t.look(hash, false)
	if !ok {
		return Found{}, ErrNotFound
	}
	sp.stale = true
	return t.readSpot(ctx, dst, key, &sp)
}

// Peek is Get without the value, and it does not count as a read.
func (t *Tier) Peek(ctx context.Context, key []byte, hash uint64) (Found, error) {
	sp, ok := t.look(hash, false)
	if !ok {
		return Found{}, ErrNotFound
	}
	sp.peek = true
	f, err := t.readSpot(ctx, nil, key, &sp)
	f.Value = nil
	return f, err
}

// readSpot reads and checks the value at a spot.
func (t *Tier) readSpot(ctx context.Context, dst, key []byte, sp *spot) (Found, error) {
	f, err := t.readRecord(ctx, dst, key, sp)
	if err == nil && f.head.Parts > 0 { // and what it was read from is free again
		if f, err = t.readParts(ctx, dst, sp, f); err == nil {
			t.count.hits.Add(1)
		}
	}
	return f, err
}

// readRecord reads and checks the record at a spot.
func (t *Tier) readRecord(ctx context.Context, dst, key []byte, sp *spot) (Found, error) {
	if seg := t.log.pin(sp.slot, sp.lsn>>t.log.SegmentShift); seg != nil {
		defer t.log.unpin(seg)
		return t.accept(dst, key, sp, seg.buf[sp.off:seg.limit()])
	}
	buf, view, err := t.fetch(ctx, sp)
	switch {
	case errors.Is(err, format.ErrCorrupt):
		return Found{}, t.damaged(sp)
	case err != nil:
		return Found{}, t.readFailed(ctx, sp, err)
	}
	defer buf.Release()
	t.health.unreadable.readWell()
	return t.accept(dst, key, sp, view)
}

// limit is how far records may reach in a segment in memory.
func (s *segment) limit() int { return len(s.buf) - format.TrailerLen }

// fetch reads the bytes at a spot from the file.
func (t *Tier) fetch(ctx context.Context, sp *spot) (*bufpool.Buffer, []byte, error) {
	until := t.reader.Deadline()
	n, bounded := sp.entry.MaxBytes()
	off, length, skip := t.window(sp, n)
	buf, err := t.readFor(ctx, sp, until, off, length)
	if err != nil || bounded {
		return buf, view(buf, skip), err
	}
	r, err := format.ParseHeader(view(buf, skip))
	if err == nil && r.Size <= length-skip {
		return buf, view(buf, skip), nil
	}
	buf.Release()
	if err != nil {
		return nil, nil, err
	}
	off, length, skip = t.window(sp, r.Size)
	buf, err = t.readFor(ctx, sp, until, off, length)
	return buf, view(buf, skip), err
}

// readFor reads some bytes at a spot.
func (t *Tier) readFor(ctx context.Context, sp *spot, until int64, off int64, length int) (*bufpool.Buffer, error) {
	if sp.waits {
		return t.reader.Read(ctx, off, length)
	}
	return t.reader.Try(ctx, until, off, length)
}

func view(b *bufpool.Buffer, skip int) []byte {
	if b == nil {
		return nil
	}
	return b.Bytes()[skip:]
}

// window is what has to be read of the file for n bytes at a spot: whole blocks
// of the segment, of which the first skip bytes lie before it.
func (t *Tier) window(sp *spot, n int) (off int64, length, skip int) {
	align := t.logFile.Align()
	from := sp.off &^ (align - 1)
	to := min((sp.off+n+align-1)&^(align-1), t.log.SegmentBytes())
	return int64(sp.slot)<<t.log.SegmentShift + int64(from), to - from, sp.off - from
}

// accept checks the bytes of a record, and takes from them what was asked for.
func (t *Tier) accept(dst, key []byte, sp *spot, b []byte) (f Found, err error) {
	r, err := format.ParseRecord(b, format.Origin{Log: t.logNumber(), LSN: sp.lsn})
	if err == nil && r.Flags&format.FlagCompressed != 0 && string(r.Key) == string(key) {
		f.Value, err = expand(dst, r.Value)
	}
	switch {
	case !t.still(sp):
		return Found{}, ErrChanged
	case err != nil:
		t.corrupt(sp)
		return Found{}, format.ErrCorrupt
	case string(r.Key) != string(key) || r.Kind() == format.IsPart:
		t.count.collisions.Add(1)
		return Found{}, ErrNotFound
	case t.over(r.Deadline, sp.stale):
		return Found{}, ErrNotFound // its room comes back when its segment is reclaimed
	}
	f.Deadline, f.Token = r.Deadline, sp.lsn
	if r.Kind() == format.IsHead && !sp.peek {
		head, ok := format.ParseHead(r.Value)
		if !ok {
			t.corrupt(sp)
			return Found{}, format.ErrCorrupt
		}
		f.head = head
		return f, nil
	}
	if r.Flags&format.FlagCompressed == 0 {
		f.Value = append(dst, r.Value...)
	}
	t.count.hits.Add(1)
	return f, nil
}

// damaged is what a read ends with that found no header of a record. The disk
// does what it should: it is the record's fault.
func (t *Tier) damaged(sp *spot) error {
	t.health.unreadable.readWell()
	if !t.still(sp) {
		return ErrChanged
	}
	t.corrupt(sp)
	return format.ErrCorrupt
}

// over reports whether a deadline has passed, or, if a stale value will do,
// passed so long ago that none does.
func (t *Tier) over(deadline int64, stale bool) bool {
	if deadline == 0 {
		return false
	}
	if stale {
		deadline += t.cfg.Grace
	}
	return deadline <= t.Now()
}

// expand appends the value that an s2 block holds. The block is what was written:
// its checksum was right. So it may be longer than RAM, which was larger then.
func expand(dst, block []byte) ([]byte, error) {
	n, err := s2.DecodedLen(block)
	if err != nil {
		return dst, format.ErrCorrupt
	}
	dst = slices.Grow(dst, n)
	v, err := s2.Decode(dst[len(dst):len(dst)+n], block)
	if err != nil {
		return dst, err
	}
	return dst[:len(dst)+len(v)], nil
}

// corrupt takes a record out that is not what it should be.
func (t *Tier) corrupt(sp *spot) {
	t.count.corrupt.Add(1)
	t.health.log("a record's checksum is wrong", "segment", sp.lsn>>t.log.SegmentShift, "offset", sp.off)
	t.lose(sp)
}

// lose takes a record out that cannot be had.
func (t *Tier) lose(sp *spot) {
	s := t.index.shardOf(sp.id)
	s.mu.Lock()
	defer s.mu.Unlock()
	if at, e, ok := s.search(s.FingerprintOf(sp.id)); ok && s.Location(e) == sp.loc && t.log.lsnAt(sp.loc) == sp.lsn {
		t.drop(s, sp.id, at, e)
	}
}

// Query is one key of a GetMany.
type Query struct {
	Key  []byte
	Hash uint64
	spot spot
	req  int
}

// Many is the scratch space of GetMany.
type Many struct {
	Queries []Query
	reqs    []aio.Request
	value   []byte
}

// GetMany looks up all queries, with many reads of the disk at once, in windows,
// each of which waits for the disk as a Get does. For each query, in any order, it
// calls found with what Get would have returned; the value is a view that is lent
// until found returns. All calls under way share readMemory: the buffers of each
// take no more than its part, or than one record.
func (t *Tier) GetMany(ctx context.Context, m *Many, found func(i int, f Found, err error)) {
	t.batches.Add(1)
	defer t.batches.Add(-1)
	for from := 0; from < len(m.Queries); {
		to := t.locateWindow(ctx, m, from, found)
		t.readWindow(ctx, m, from, to, found)
		from = to
	}
}

// locateWindow plans the reads of the queries from a place on, until their
// buffers are as large as they may be, and returns the place of the first query
// that has to wait for the next window. What needs no read of its own is answered
// at once.
func (t *Tier) locateWindow(ctx context.Context, m *Many, from int, found func(i int, f Found, err error)) (to int) {
	m.reqs = m.reqs[:0]
	room := t.cfg.readMemory() / max(t.batches.Load(), 1)
	for to = from; to < len(m.Queries); to++ {
		q := &m.Queries[to]
		var ok bool
		q.req = -1
		if q.spot, ok = t.look(q.Hash, true); !ok {
			found(to, Found{}, ErrNotFound)
			continue
		}
		n, bounded := q.spot.entry.MaxBytes()
		if seg := t.log.pin(q.spot.slot, q.spot.lsn>>t.log.SegmentShift); seg != nil || !bounded {
			if seg != nil {
				t.log.unpin(seg)
			}
			f, err := t.readSpot(ctx, m.value[:0], q.Key, &q.spot)
			m.keep(f.Value)
			found(to, f, err)
			continue
		}
		off, length, _ := t.window(&q.spot, n)
		if room -= int64(length); room < 0 && len(m.reqs) > 0 {
			return to
		}
		q.req = len(m.reqs)
		m.reqs = append(m.reqs, aio.Request{Off: off, N: length})
	}
	return to
}

// readWindow reads what locateWindow has planned for the queries of a window.
func (t *Tier) readWindow(ctx context.Context, m *Many, from, to int, found func(i int, f Found, err error)) {
	if len(m.reqs) == 0 {
		return
	}
	t.reader.TryMany(ctx, t.reader.Deadline(), m.reqs)
	for i := from; i < to; i++ {
		q := &m.Queries[i]
		if q.req < 0 {
			continue
		}
		f, err := t.acceptRequest(ctx, m.value[:0], q, &m.reqs[q.req])
		m.keep(f.Value)
		found(i, f, err)
		if b := m.reqs[q.req].Buf; b != nil {
			b.Release()
		}
	}
	clear(m.reqs)
}

// keep keeps a value's memory for the next, unless it is large.
func (m *Many) keep(value []byte) {
	if cap(value) <= 64<<10 {
		m.value = value[:0]
	}
}

func (t *Tier) acceptRequest(ctx context.Context, dst []byte, q *Query, req *aio.Request) (Found, error) {
	if req.Err != nil {
		return Found{}, t.readFailed(ctx, &q.spot, req.Err)
	}
	t.health.unreadable.readWell()
	n, _ := q.spot.entry.MaxBytes()
	_, _, skip := t.window(&q.spot, n)
	return t.accept(dst, q.Key, &q.spot, req.Buf.Bytes()[skip:])
}
