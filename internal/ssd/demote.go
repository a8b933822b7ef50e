package ssd

import (
	"slices"

	"github.com/klauspost/compress/s2"
)

// What the tier above tells, under the lock that orders the writes of a key.

// Prefetch begins to load what the other calls with this hash will look at.
func (t *Tier) Prefetch(hash uint64) { t.index.prefetch(t.id(hash)) }

// Demote takes over a record that leaves RAM. It reports whether the record
// lives on here. It does not wait for the disk: when that is behind, the record
// is refused.
func (t *Tier) Demote(hash uint64, key, value []byte, deadline int64, read bool) bool {
	x := t.id(hash)
	s := t.index.shardOf(x)
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.state.Load() != on { // asked under the lock: whoever empties the index takes it after
		return false
	}
	if e, ok := s.find(x); ok && !s.grave(e) {
		t.count.clean.Add(1)
		return true // read from here and not set since: what lies here is the same
	}
	if !t.admission.admit(hash, len(key)+len(value), read, t.log.full.Load()) {
		t.count.refused.Add(1)
		return false
	}
	r := rec{key: key, value: value, deadline: deadline}
	if deadline != 0 {
		r.flags |= flagExpires
		if !t.expires.Load() {
			t.expires.Store(true)
		}
	}
	if t.cfg.Compress {
		scratch := t.compress(&r)
		defer scratch.release()
	}
	return t.put(s, x, &r)
}

// put appends a record and makes the index name it. The caller holds the shard's
// lock.
func (t *Tier) put(s *shard, x id, r *rec) bool {
	if len(r.key)+len(r.value)+recordHeaderMax > t.log.most() {
		t.count.tooLarge.Add(1)
		return false
	}
	if !t.index.room(s) {
		t.count.indexFull.Add(1)
		t.poke()
		return false
	}
	loc, size, ok := t.log.append(x, r)
	if !ok {
		t.count.shed.Add(1)
		t.poke()
		return false
	}
	s.put(s.newEntry(x, loc, size))
	t.count.demoted.Add(1)
	t.count.demotedBytes.Add(uint64(len(r.key) + len(r.value)))
	return true
}

// Superseded takes what is here of a key out: it was set or deleted above. Before
// that is acknowledged, Commit has to return nil.
func (t *Tier) Superseded(hash uint64) {
	state := t.state.Load()
	if state == closed || state == off && t.health.voided.Load() {
		return
	}
	x := t.id(hash)
	s := t.index.shardOf(x)
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.find(x)
	recovering := t.recovering.Load()
	if ok && s.grave(e) || !ok && !recovering && !s.lacks(t.floor.Load()) {
		return
	}
	if ok {
		s.remove(x)
	}
	if recovering { // it may yet be found in the log
		t.bury(s, x)
	}
	s.note(x, t.log.tail.Load())
	t.count.superseded.Add(1)
}

// note remembers that the journal has to say that an id's records before an LSN
// are dead. The caller holds mu.
func (s *shard) note(x id, lsn uint64) {
	s.unnoted = append(s.unnoted, note{noteDead, x, lsn})
	s.notes.Store(int32(len(s.unnoted)))
}

// bury remembers until the recovery has ended that an id is dead. Without memory
// for that, the recovery must find nothing more for this shard.
func (t *Tier) bury(s *shard, x id) {
	if !t.index.room(s) {
		s.unknown = t.plan.newest
		return
	}
	s.put(s.newGrave(x))
}

// Commit returns when it is certain that nothing of what Superseded took out
// under this hash comes back, also if the process dies. An error says that it
// may.
func (t *Tier) Commit(hash uint64) error {
	x := t.id(hash)
	s := t.index.shardOf(x)
	if s.notes.Load() == 0 {
		return nil
	}
	n, ok := s.unnotedOf(x, t.log)
	if !ok {
		return nil
	}
	if err := t.journal.commit(n); err != nil {
		return t.unnoted(err)
	}
	s.noted(n)
	return nil
}

// CommitMany is Commit for many hashes, with one write for all of them.
func (t *Tier) CommitMany(hashes []uint64) error {
	var few [32]note
	notes := few[:0]
	for _, h := range hashes {
		x := t.id(h)
		if s := t.index.shardOf(x); s.notes.Load() != 0 {
			if n, ok := s.unnotedOf(x, t.log); ok {
				notes = append(notes, n)
			}
		}
	}
	if len(notes) == 0 {
		return nil
	}
	if err := t.journal.commit(notes...); err != nil {
		return t.unnoted(err)
	}
	for _, n := range notes {
		t.index.shardOf(n.id).noted(n)
	}
	return nil
}

// unnotedOf is the note that is missing for an id, be it this write's or that of
// an earlier one, which may be about to be written: who writes the same key
// again must not be acknowledged before it is.
func (s *shard) unnotedOf(x id, l *log) (n note, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.unnoted {
		if n.id == x {
			return note{noteDead, x, l.tail.Load()}, true
		}
	}
	return n, false
}

// noted takes out what a note says, now that it has been written.
func (s *shard) noted(n note) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unnoted = slices.DeleteFunc(s.unnoted, func(m note) bool { return m.id == n.id && m.at <= n.at })
	s.notes.Store(int32(len(s.unnoted)))
}

// Holds reports whether the record with this LSN is still what the index names
// for the hash.
func (t *Tier) Holds(hash, lsn uint64) bool {
	if t.state.Load() != on {
		return false
	}
	x := t.id(hash)
	s := t.index.shardOf(x)
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.find(x)
	return ok && !s.grave(e) && t.log.lsnAt(s.location(e)) == lsn
}

func (t *Tier) id(hash uint64) id {
	if t.cfg.HashMask != 0 {
		hash &= t.cfg.HashMask
	}
	return idOf(hash) & t.index.told
}

// leastCompressed is the shortest value in bytes that compression is tried on.
const leastCompressed = 128

// compress replaces the value by an s2 block if that is shorter by an eighth or
// more.
func (t *Tier) compress(r *rec) scratch {
	if len(r.value) < leastCompressed {
		return scratch{}
	}
	b := takeScratch(s2.MaxEncodedLen(len(r.value)))
	packed := s2.Encode(b.bytes, r.value)
	if len(packed) <= len(r.value)-len(r.value)/8 {
		t.count.compressedFrom.Add(uint64(len(r.value)))
		t.count.compressedTo.Add(uint64(len(packed)))
		r.value, r.flags = packed, r.flags|flagCompressed
	}
	return b
}
