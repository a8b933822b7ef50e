package ssd

import (
	"encoding/binary"
	"math/rand/v2"
	"time"
)

// A value that is too long for one record lies in parts: records of their own,
// anywhere in the log, under ids that follow from the key's. All of them are in its
// shard, so that whoever takes the head out of the index takes them out as well.
// The head is a record with the key, and the last to be written. It tells how many
// parts there are, and their number: the parts of one write have the same, a random
// one, and no reader puts those of two together.
//
// To all else a part is a record like others: it is moved, evicted and saved on its
// own. Without all of them the value is lost, and the next reader takes the rest out.

const (
	mostParts = 1024 // of a value

	// A value may have one part in longShare of the log: more would drive out
	// too much else.
	longShare = 8

	// wholeMost is the longest key and value together that are one record: locks
	// are held while it is copied. A part is no longer either.
	wholeMost = 1 << 20

	usualHead = 256 // bytes; with a long key there are more
)

// partMost is how many bytes of a value a part takes: four parts fill a segment.
func partMost(segBytes int, unitShift uint) int {
	return min(segBytes/4-128-1<<unitShift, wholeMost)
}

// partID is the id of a value's part, from the id of its key: another one of the
// same shard.
func (x *index) partID(owner id, part int) id { return partID(owner, part, x.layout, x.shardBits) }

// ownerID is the id of a key whose value's part has an id.
func (x *index) ownerID(part id, n int) id { return partID(part, -n-2, x.layout, x.shardBits) }

func partID(owner id, part int, l layout, shardBits uint) id {
	const step = 0x9e3779b97f4a7c15
	mask := id(1)<<min(l.fingerprintBits(), idBits-shardBits) - 1
	return owner&^mask | (owner+id(part+1)*step)&mask
}

// idOf is the id of a record.
func (t *Tier) idOf(r *rec) id {
	if k, ok := parsePartKey(r.key); ok && r.kind() == isPart {
		return t.index.partID(k.owner, k.part)
	}
	return t.id(t.hasher.Hash(r.key))
}

// partKey is the key of a part: the number of the write, the id of the value's key,
// and which part it is.
type partKey struct {
	write uint64
	owner id
	part  int
}

const partKeyLen = 8 + idLen + 2

func (k partKey) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, k.write)
	b = appendID(b, k.owner)
	return binary.LittleEndian.AppendUint16(b, uint16(k.part))
}

func parsePartKey(b []byte) (k partKey, ok bool) {
	if len(b) != partKeyLen {
		return k, false
	}
	return partKey{binary.LittleEndian.Uint64(b), idAt(b[8:]), int(binary.LittleEndian.Uint16(b[8+idLen:]))}, true
}

// head is the value of a head.
type head struct {
	write uint64 // the number of the write
	bytes int    // of the value
	parts int
}

const headLen = 8 + 8 + 2

func (h head) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, h.write)
	b = binary.LittleEndian.AppendUint64(b, uint64(h.bytes))
	return binary.LittleEndian.AppendUint16(b, uint16(h.parts))
}

func parseHead(b []byte) (h head, ok bool) {
	if len(b) != headLen {
		return h, false
	}
	n := binary.LittleEndian.Uint64(b[8:])
	h = head{binary.LittleEndian.Uint64(b), int(n), int(binary.LittleEndian.Uint16(b[16:]))}
	return h, h.parts > 0 && h.parts <= mostParts && n <= mostParts*wholeMost
}

// AtOnce is the longest key and value together, in bytes, that come by Demote: the
// log has room for some of them where Ready says so. Longer ones come by DemoteParts.
func (t *Tier) AtOnce() int { return min(t.log.usualSpare()/4, wholeMost) }

// whole is the longest key and value together that are one record.
func (t *Tier) whole() int { return min(t.log.most()-recordHeaderMax, wholeMost) }

// longest is the longest value in bytes that is taken in parts.
func (t *Tier) longest() int {
	return int(min(t.logBytes/longShare, int64(mostParts)*int64(t.log.partMost)))
}

// mostParts is the most parts that a value may have here.
func (t *Tier) mostParts() int { return t.longest()/t.log.partMost + 1 }

// Descent is a long value on its way here from RAM, part by part, or as a whole when
// there is room. Between two calls the lock that orders the writes of its key is not
// held; if the key is written meanwhile, Abandon has to follow.
type Descent struct {
	t        *Tier
	owner    id
	head     head // parts is 0 for what is one record
	deadline int64
	put      int // parts
	piece    int // bytes of each part but the last
	room     int // bytes that the next record may have
}

// DemoteParts begins to take over a record that leaves RAM; copied is as for Demote.
// It returns nil if the record is not to come, or, with there, lives here. Each call of Put takes the
// Piece of the value that is next, and End ends it, or PutWhole takes all at once;
// or else Abandon ends it. All of them are called like Demote, under the lock that
// orders the writes of the key.
func (t *Tier) DemoteParts(hash uint64, keyLen, valueLen int, deadline int64, read, copied bool) (d *Descent, there bool) {
	x := t.id(hash)
	s := t.index.shardOf(x)
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.state.Load() != on {
		return nil, false
	}
	at, e, found := s.search(s.fingerprintOf(x))
	if found && copied {
		t.count.clean.Add(1)
		return nil, true
	}
	whole := keyLen+valueLen <= t.whole()
	if !whole && (valueLen > t.longest() || keyLen+headLen > t.whole()) {
		t.count.tooLarge.Add(1)
		return nil, false
	}
	if !t.admission.admit(hash, keyLen+valueLen, read) {
		t.count.refused.Add(1)
		return nil, false
	}
	if deadline != 0 && !t.expires.Load() {
		t.expires.Store(true)
	}
	if found { // another key's
		t.drop(s, x, at, e)
		t.count.collided.Add(1)
	}
	t.descending.Add(1)
	d = &Descent{t: t, owner: x, deadline: deadline, head: head{bytes: valueLen}, room: recordHeaderMax + keyLen + valueLen}
	if !whole {
		most := t.log.partMost
		d.head.write, d.head.parts = rand.Uint64(), (valueLen+most-1)/most
		d.piece, d.room = (valueLen+d.head.parts-1)/d.head.parts, max(t.partWindow(), recordHeaderMax+keyLen+headLen)
	}
	return d, false
}

// Whole reports whether PutWhole is what takes the value.
func (d *Descent) Whole() bool { return d.head.parts == 0 }

// PutWhole takes over all at once. It returns what Put does.
func (d *Descent) PutWhole(key, value []byte) (ok, again bool) {
	r := rec{key: key, value: value}
	if d.t.cfg.Compress {
		scratch := d.t.compress(&r)
		defer scratch.release()
	}
	if d.taken() {
		return false, false
	}
	return d.end(&r)
}

// Piece is how many bytes of the value the next part takes, and from where.
func (d *Descent) Piece() (from, n int) {
	from = d.put * d.piece
	return from, max(min(d.piece, d.head.bytes-from), 0)
}

// Put takes over a part. If it does not, again tells whether it may when the log has
// room.
func (d *Descent) Put(piece []byte) (ok, again bool) {
	t, x := d.t, d.t.index.partID(d.owner, d.put)
	r := rec{flags: flagPart, key: partKey{d.head.write, d.owner, d.put}.append(make([]byte, 0, partKeyLen)), value: piece}
	if t.cfg.Compress {
		scratch := t.compress(&r)
		defer scratch.release()
	}
	if ok, again = d.append(x, &r); ok {
		d.put++
	}
	return ok, again
}

// End makes the value found, once all parts have been put. It returns what Put does,
// and false if some part is there no more.
func (d *Descent) End(key []byte) (ok, again bool) {
	if d.taken() || !d.complete() {
		return false, false
	}
	return d.end(&rec{flags: flagHead, key: key, value: d.head.append(make([]byte, 0, headLen))})
}

// taken reports whether another key with this id lives here by now.
func (d *Descent) taken() bool {
	s := d.t.index.shardOf(d.owner)
	s.mu.Lock()
	defer s.mu.Unlock()
	_, taken := s.find(d.owner)
	return taken
}

// complete reports whether all parts are there yet.
func (d *Descent) complete() bool {
	s := d.t.index.shardOf(d.owner)
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range d.head.parts {
		if _, ok := s.find(d.t.index.partID(d.owner, i)); !ok {
			return false
		}
	}
	return true
}

// end appends the record that has the key.
func (d *Descent) end(r *rec) (ok, again bool) {
	if ok, again = d.append(d.owner, r); ok {
		d.t.count.demoted.Add(1)
		d.t.count.demotedBytes.Add(uint64(len(r.key) + d.head.bytes))
		d.t.descending.Add(-1)
	}
	return ok, again
}

// append appends a record of the value, and makes the index name it.
func (d *Descent) append(x id, r *rec) (ok, again bool) {
	t := d.t
	if r.deadline = d.deadline; r.deadline != 0 {
		r.flags |= flagExpires
	}
	s := t.index.shardOf(x)
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.state.Load() != on {
		return false, false
	}
	if !t.index.room(s) {
		t.poke()
		if again = t.index.short(); !again {
			t.count.indexFull.Add(1)
		}
		return false, again
	}
	loc, size, ok := t.log.append(x, r, forDemote)
	if !ok {
		t.poke()
		return false, true
	}
	if at, e, found := s.search(s.fingerprintOf(x)); found { // of a write that was not ended, or another key's
		t.drop(s, x, at, e)
	}
	e := s.entryOf(x, loc, size, r.kind())
	s.put(e)
	t.appended(e)
	return true, false
}

// Await waits until the log has room for what is next, and the index, for as long as Ready
// does; patient, as long as the disk does something.
func (d *Descent) Await(waited time.Duration, patient bool) (inAll time.Duration, ok bool) {
	t, l := d.t, d.t.log
	patience := t.cfg.Throttle - waited
	if patient {
		patience = t.cfg.Patience
	}
	now := l.flushed.Load()
	if patience <= 0 || t.stuckAt.Load() == now+1 {
		return waited, false
	}
	began := time.Now()
	if ok = l.waitFor(patience, func() bool { return l.hasRoom(d.room) || t.state.Load() != on }); !ok {
		t.stuckAt.Store(now + 1)
	}
	ok = ok && t.waitIndex(patience-time.Since(began))
	return waited + time.Since(began), ok
}

// Abandon ends it without the value. late says that it came to that because the log
// had no room for too long.
func (d *Descent) Abandon(late bool) {
	t := d.t
	s := t.index.shardOf(d.owner)
	s.mu.Lock()
	defer s.mu.Unlock()
	t.dropParts(s, d.owner, d.put)
	t.descending.Add(-1)
	if late {
		t.count.shed.Add(1)
	}
}

// dropParts takes the first n parts of a value out of the index. The caller holds mu.
func (t *Tier) dropParts(s *shard, owner id, n int) {
	for i := range n {
		if at, e, ok := s.search(s.fingerprintOf(t.index.partID(owner, i))); ok && e.class() == partClass {
			s.removeAt(at)
			t.unnamed(e)
		}
	}
}

// dropOwner takes the value out that a part belongs to, if it is there yet: the ids
// of its key and of its parts lie apart by known steps. The caller holds mu.
func (t *Tier) dropOwner(s *shard, part id) bool {
	for i := range t.mostParts() {
		x := t.index.ownerID(part, i)
		if at, e, ok := s.search(s.fingerprintOf(x)); ok && e.class() == headClass {
			t.drop(s, x, at, e)
			return true
		}
	}
	return false
}

// orphan reports whether a record is a part of a value that has no head, nor is to
// get one. The caller holds mu.
func (t *Tier) orphan(s *shard, r *rec) bool {
	if r.kind() != isPart {
		return false
	}
	k, ok := parsePartKey(r.key)
	if !ok {
		return true
	}
	_, there := s.find(k.owner)
	return !there && t.descending.Load() == 0
}
