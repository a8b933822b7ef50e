package ssd

import (
	"math/bits"
	"sync"
	"sync/atomic"
)

// admission decides which records are written: those worth it, as far as the budget goes.
// AdmitSeen chooses while live records fill the log, or the index: until then
// nothing has to leave for what comes.
type admission struct {
	kind   Admission
	seen   sketch
	budget budget

	admitAll  atomic.Bool // whatever kind is
	selective atomic.Bool // records had to leave for want of room, when some was made last
}

func (a *admission) init(cfg *Config, now func() int64) {
	a.kind = cfg.Admission
	a.budget.init(cfg.WriteBudget, now)
	if a.kind == AdmitSeen {
		a.seen.init(cfg.Memory / sketchShare)
	}
}

// admit decides about a record of so many bytes.
func (a *admission) admit(hash uint64, bytes int, read bool) bool {
	w, ok := a.worthOf(hash, read)
	return ok && a.budget.admit(w, hash, bytes)
}

// worthOf rates a record, and reports whether that is enough. While the budget
// is short, AdmitSeen prefers records that were offered before.
func (a *admission) worthOf(hash uint64, read bool) (w worth, ok bool) {
	switch {
	case a.admitAll.Load():
		return leaving, true
	case read:
		return proven, true
	case a.kind == AdmitRead:
		return unproven, false
	case a.kind == AdmitAll:
		return unproven, true
	}
	choosing := a.selective.Load()
	if (choosing || a.budget.short()) && a.seen.add(hash) {
		return proven, true
	}
	return unproven, !choosing
}

// mayRewrite reports whether records may be written anew to make room.
func (a *admission) mayRewrite() bool { return a.budget.mayRewrite() }

// sketchShare is the part of the RAM budget, as a divisor, that remembering
// refused records takes.
const sketchShare = 1024

// sketch remembers hashes approximately: two Bloom filters with two bits a hash,
// of which the younger is filled until the older is dropped for it. It forgets
// a hash after another one to two capacities, a bit for every eighth of it.
type sketch struct {
	mu    sync.Mutex // a leaf
	bits  [2][]uint64
	mask  uint64
	added int
}

func (s *sketch) init(bytes int64) {
	words := sketchWords(bytes)
	s.bits[0], s.bits[1] = make([]uint64, words), make([]uint64, words)
	s.mask = uint64(words)*64 - 1
}

// sketchWords is the length of one of the two filters of a sketch of so many bytes.
func sketchWords(bytes int64) int64 { return 1 << (bits.Len64(uint64(max(bytes/16, 64))) - 1) }

// sketchBytes is the size of both, of the bytes that there are for them.
func sketchBytes(bytes int64) int64 { return 2 * 8 * sketchWords(bytes) }

// add remembers a hash, and reports whether it was known.
func (s *sketch) add(hash uint64) (known bool) {
	a, b := hash&s.mask, hash>>32&s.mask
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.bits {
		if (s.bits[i][a/64]>>(a%64))&(s.bits[i][b/64]>>(b%64))&1 != 0 {
			return true
		}
	}
	s.bits[0][a/64] |= 1 << (a % 64)
	s.bits[0][b/64] |= 1 << (b % 64)
	if s.added++; uint64(s.added) > s.mask/8 {
		s.bits[0], s.bits[1], s.added = s.bits[1], s.bits[0], 0
		clear(s.bits[0])
	}
	return false
}
