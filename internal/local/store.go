package local

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/firncache/firn/internal/evicted"
	"github.com/firncache/firn/internal/ram"
	"github.com/firncache/firn/internal/ssd"
)

// Store is the tiers of a cache in this process. All methods are safe for concurrent use. Its owner
// holds it by value: while a method of the store runs, the owner is not collected.
type Store struct {
	RAM    *ram.Tier
	ssd    *ssdTier // nil: RAM alone
	mirror *mirror  // nil: none
	now    func() int64
	grace  *atomic.Int64 // how long the tiers keep expired entries, in milliseconds
	hook   atomic.Pointer[WriteHook]
	ending

	registry  *registryOwner
	recovered bool // the SSD tier had records when it was opened
	obsolete  atomic.Pointer[obsoleteRecords]
	above     func(context.Context) error // closes what lies above; nil: nothing does
}

// KeepAlive ends every method that has used the tiers: until there, the owner of
// the store is reachable, and the tiers' memory is mapped.
func (s *Store) KeepAlive() { runtime.KeepAlive(s) }

// freeWhenUnreachable has the tiers' memory freed when the store is no longer
// reachable; above closes what lies above, and does not hold on to the store. The memory's address space outlives Close, so that a late reader finds
// zeros and not a fault.
func (s *Store) freeWhenUnreachable(above func(context.Context) error) {
	s.above = above
	runtime.AddCleanup(s, leftTiers.free, leftTiers{s.RAM, s.ssd, s.mirror, s.above, s.registry})
}

// leftTiers are the tiers that a store leaves behind.
type leftTiers struct {
	ram      *ram.Tier
	ssd      *ssdTier
	mirror   *mirror
	above    func(context.Context) error
	registry *registryOwner
}

// free gives back the tiers' memory and files. A store that was not closed is closed
// first, without writing RAM's entries to the SSD.
func (t leftTiers) free() {
	if t.ssd == nil && t.above == nil {
		t.freeRAM()
		return
	}
	go func() { // it may take a while
		if t.above != nil {
			_ = t.above(context.Background())
		}
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
func (s *Store) Passed(moment int64) bool { return s.RAM.Passed(moment) }

// Hash is the hash of a key, for the calls that take it with the key.
func (s *Store) Hash(key []byte) uint64 { return s.RAM.Hash(key) }

// Recovered reports whether the SSD tier had records when the store was opened.
func (s *Store) Recovered() bool { return s.recovered }

// HasSSD reports whether there is a tier below RAM, so that a lookup may wait.
func (s *Store) HasSSD() bool { return s.ssd != nil }

// MayBeOnSSD reports whether the SSD tier may have a record of a key with this hash.
func (s *Store) MayBeOnSSD(hash uint64) bool { return s.ssd != nil && s.ssd.Has(hash) }

// Times are the store's clock and grace, for those who must not hold on to the store.
func (s *Store) Times() (now func() int64, grace *atomic.Int64) { return s.now, s.grace }

// Grace is how long the tiers keep expired entries, in milliseconds.
func (s *Store) Grace() int64 { return s.grace.Load() }

// Len is the number of records. A record in both tiers counts twice; one that has
// expired, and was not taken out yet, still counts.
func (s *Store) Len() int {
	n := s.RAM.Len()
	if s.ssd != nil {
		n += s.ssd.tier.Len()
	}
	s.KeepAlive()
	return n
}

// All yields every live record, those in RAM first. The slices are lent until
// yield returns; the loop ends when that is false.
func (s *Store) All(yield func(key, value []byte) bool) {
	more := true
	s.RAM.All(func(key, value []byte) bool {
		more = yield(key, value)
		return more
	})
	if more && s.ssd != nil {
		s.ssd.tier.All(func(hash uint64, key, value []byte) bool {
			if _, above := s.RAM.Deadline(hash, key); above {
				return true
			}
			return yield(key, value)
		})
	}
	s.KeepAlive()
}

// Tell sets the causes for which Config.Evicted, which is given, is called from now on.
func (s *Store) Tell(causes evicted.Causes) {
	s.RAM.NotifyOf(causes)
	s.KeepAlive()
}

// Stats are the figures of the tiers; those of an SSD tier that there is not are 0.
func (s *Store) Stats() (inRAM ram.Stats, onSSD ssd.Stats) {
	inRAM = s.RAM.Stats()
	inRAM.Overhead += s.registry.bytes()
	if s.ssd != nil {
		onSSD = s.ssd.tier.Stats()
	}
	s.KeepAlive()
	return inRAM, onSSD
}

// Mirrored is how far the mirror has come: what was last written longer ago than age is on the SSD,
// and left was in RAM alone when the last pass ended. Without a mirror all is 0.
func (s *Store) Mirrored() (age time.Duration, left ram.Unmirrored) {
	age, left = s.mirror.progress()
	s.KeepAlive()
	return age, left
}

// Resize changes the RAM budget.
func (s *Store) Resize(bytes int64) error {
	if s.RAM.Closed() {
		return ErrClosed
	}
	err := s.RAM.SetBytes(bytes)
	if err != nil {
		least, most := s.RAM.Bounds()
		err = fmt.Errorf("firn: SetRAMBytes(%d): want %d to %d bytes", bytes, least, most)
	}
	s.KeepAlive()
	return err
}

// RaiseGrace has the tiers keep expired entries for so many milliseconds, if that is longer.
func (s *Store) RaiseGrace(millis int64) {
	for now := s.grace.Load(); now < millis; now = s.grace.Load() {
		if s.grace.CompareAndSwap(now, millis) {
			s.RAM.RaiseGrace(millis)
			if s.ssd != nil {
				s.ssd.tier.RaiseGrace(millis)
			}
		}
	}
	s.KeepAlive()
}

// RAMBytes is the RAM budget.
func (s *Store) RAMBytes() int64 { return s.RAM.Bytes() }

// LeastRAMBytes is what no RAM budget is below, whatever is lent by now.
func (s *Store) LeastRAMBytes() int64 { return s.RAM.LeastBytes() }

// Memory is what the tiers hold of the RAM budget, and the least that it may be now.
func (s *Store) Memory() (resident, least int64) {
	inRAM, _ := s.Stats()
	least, _ = s.RAM.Bounds()
	return inRAM.Resident, least
}

// Full reports whether RAM has evicted entries since there was room for all.
func (s *Store) Full() bool { return s.RAM.Full() }

// Lend takes bytes of the RAM budget for memory outside the tiers, or gives them back if negative:
// as ram.Tier.Reserve.
func (s *Store) Lend(bytes int64) error {
	err := s.RAM.Reserve(bytes)
	s.KeepAlive()
	return err
}

// Quota is that of a namespace, by the number of its current generation: see ram.Tier.Quota. The
// caller calls HoldQuota when it holds no lock.
func (s *Store) Quota(number uint64, limit int64) *Quota {
	defer s.KeepAlive()
	in := s.RAM.Quota(number, limit)
	if in == nil {
		return nil
	}
	q := &Quota{ram: in}
	if s.ssd != nil && limit > 0 {
		q.shares = s.ssd.tier.Shares()
		q.share = s.ssd.tier.SetShare(float64(limit) / float64(s.ssd.ramBytes))
		q.shares.Begin(number, q.share)
	}
	return q
}

// HoldQuota is ram.Tier.HoldQuota.
func (s *Store) HoldQuota(q *Quota) {
	s.RAM.HoldQuota(q.ram)
	if q.share != nil {
		q.shares.Charge(s.RAM.Reserve)
	}
	s.KeepAlive()
}

// ending is the end of a store, which has one.
type ending struct{ ended atomic.Pointer[chan struct{}] }

// begin reports whether the caller is the first, who calls end. Another returns when
// that was called, or with the error of ctx.
func (e *ending) begin(ctx context.Context) (first bool, err error) {
	ended := make(chan struct{}) // by the caller that ends the store: that may have been opened in another bubble
	if e.ended.CompareAndSwap(nil, &ended) {
		return true, nil
	}
	before := *e.ended.Load()
	select {
	case <-before:
		return false, nil
	case <-ctx.Done():
	}
	select {
	case <-before: // whatever has become of ctx
		return false, nil
	default:
		return false, ctx.Err()
	}
}

func (e *ending) end() { close(*e.ended.Load()) }
