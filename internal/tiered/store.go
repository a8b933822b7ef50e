package tiered

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/firncache/firn/internal/ram"
	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/internal/ssd"
)

// Store is the tiers of a cache. All methods are safe for concurrent use. Its owner
// holds it by value: while a method of the store runs, the owner is not collected.
type Store struct {
	ram    *ram.Tier
	ssd    *ssdTier      // nil: RAM alone
	mirror *mirror       // nil: none
	shared *sharedTier   // nil: none
	trust  *shared.Trust // of its copies
	now    func() int64
	grace  *atomic.Int64 // how long the tiers keep expired entries, in milliseconds
	hook   atomic.Pointer[WriteHook]
	agreed *Numbers // nil without a shared tier
	ending

	registry  *registryOwner
	recovered bool // the SSD tier had records when it was opened
	obsolete  atomic.Pointer[obsoleteRecords]

	numberHook atomic.Pointer[Numbers] // not in what the memory's cleanup holds on to
}

// keepAlive ends every method that has used the tiers: until there, whoever holds
// the store is reachable, and the tiers' memory is mapped.
func (s *Store) keepAlive() { runtime.KeepAlive(s) }

// freeWhenUnreachable has the tiers' memory freed when nobody can reach the store
// any more. The memory's address space outlives Close, so that a late reader finds
// zeros and not a fault.
func (s *Store) freeWhenUnreachable() {
	runtime.AddCleanup(s, leftTiers.free, leftTiers{s.ram, s.ssd, s.mirror, s.shared, s.registry})
}

// leftTiers are the tiers that a store leaves behind.
type leftTiers struct {
	ram      *ram.Tier
	ssd      *ssdTier
	mirror   *mirror
	shared   *sharedTier
	registry *registryOwner
}

// free gives back the tiers' memory and files. A store that nobody closed is closed
// first, without writing RAM's entries to the SSD.
func (t leftTiers) free() {
	if t.ssd == nil && t.shared == nil {
		t.freeRAM()
		return
	}
	go func() { // it may take a while
		_ = t.shared.close(context.Background())
		t.mirror.stop()
		t.ram.Close()
		if t.ssd == nil {
			t.freeRAM()
			return
		}
		_ = t.ssd.tier.Close(context.Background())
		t.ssd.tier.Free()
		t.freeRAM()
	}()
}

// freeRAM gives back what is in RAM alone.
func (t leftTiers) freeRAM() {
	t.ram.Free()
	t.registry.free()
}

// Now is the store's time in milliseconds, above 0.
func (s *Store) Now() int64 { return s.now() }

// Passed reports whether a moment, in the store's time, has come. It costs less
// than Now, and may be late by as much as a read of an expired value. It touches
// no memory that the store gives back.
func (s *Store) Passed(moment int64) bool { return s.ram.Passed(moment) }

// Hash is the hash of a key, for the calls that take it with the key.
func (s *Store) Hash(key []byte) uint64 { return s.ram.Hash(key) }

// Recovered reports whether the SSD tier had records when the store was opened.
func (s *Store) Recovered() bool { return s.recovered }

// HasSSD reports whether there is a tier below RAM, so that a lookup may wait.
func (s *Store) HasSSD() bool { return s.ssd != nil }

// RAM is the RAM tier, for tests. The caller keeps the store alive.
func (s *Store) RAM() *ram.Tier { return s.ram }

// Len is the number of records. A record in both tiers counts twice; one that has
// expired, and was not taken out yet, still counts.
func (s *Store) Len() int {
	n := s.ram.Len()
	if s.ssd != nil {
		n += s.ssd.tier.Len()
	}
	s.keepAlive()
	return n
}

// All yields every live record, those in RAM first. The slices are lent until
// yield returns; the loop ends when that is false.
func (s *Store) All(yield func(key, value []byte) bool) {
	if s.shared != nil {
		yield = s.shared.eachTrusted(s, yield)
	}
	more := true
	s.ram.All(func(key, value []byte) bool {
		more = yield(key, value)
		return more
	})
	if more && s.ssd != nil {
		s.ssd.tier.All(func(hash uint64, key, value []byte) bool {
			if _, above := s.ram.Deadline(hash, key); above {
				return true
			}
			return yield(key, value)
		})
	}
	s.keepAlive()
}

// Tell has Config.Evicted, which there is, be told from now on of records that leave for
// these causes, and of no others.
func (s *Store) Tell(causes ram.Causes) {
	s.ram.Tell(causes)
	s.keepAlive()
}

// Stats are the figures of the tiers; those of an SSD tier that there is not are 0.
func (s *Store) Stats() (inRAM ram.Stats, onSSD ssd.Stats) {
	inRAM = s.ram.Stats()
	inRAM.Overhead += s.registry.bytes() + s.agreed.bytes() + s.shared.heap()
	if s.ssd != nil {
		onSSD = s.ssd.tier.Stats()
	}
	s.keepAlive()
	return inRAM, onSSD
}

// Mirrored is how far the mirror has come: what was last written longer ago than age is on the SSD,
// and left was in RAM alone when the last pass ended. Without a mirror all is 0.
func (s *Store) Mirrored() (age time.Duration, left ram.Unmirrored) {
	age, left = s.mirror.progress()
	s.keepAlive()
	return age, left
}

// Resize changes the RAM budget.
func (s *Store) Resize(bytes int64) error {
	if s.ram.Closed() {
		return ErrClosed
	}
	err := s.ram.SetBytes(bytes)
	if err != nil {
		least, most := s.ram.Bounds()
		err = fmt.Errorf("firn: SetRAMBytes(%d): want %d to %d bytes", bytes, least, most)
	}
	s.keepAlive()
	return err
}

// RaiseGrace has the tiers keep expired entries for so many milliseconds, if that is longer.
func (s *Store) RaiseGrace(millis int64) {
	for now := s.grace.Load(); now < millis; now = s.grace.Load() {
		if s.grace.CompareAndSwap(now, millis) {
			s.ram.RaiseGrace(millis)
			if s.ssd != nil {
				s.ssd.tier.RaiseGrace(millis)
			}
		}
	}
	s.keepAlive()
}

// RAMBytes is the RAM budget.
func (s *Store) RAMBytes() int64 { return s.ram.Bytes() }

// Memory is what the tiers hold of the RAM budget, and the least that it may be now.
func (s *Store) Memory() (resident, least int64) {
	inRAM, _ := s.Stats()
	least, _ = s.ram.Bounds()
	return inRAM.Resident, least
}

// Full reports whether RAM has evicted entries since there was room for all.
func (s *Store) Full() bool { return s.ram.Full() }

// Lend takes bytes of the RAM budget for memory outside the tiers, or gives them back if negative:
// as ram.Tier.Reserve.
func (s *Store) Lend(bytes int64) error {
	err := s.ram.Reserve(bytes)
	s.keepAlive()
	return err
}
