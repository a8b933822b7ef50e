package tiered

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/firncache/firn/internal/ram"
	"github.com/firncache/firn/internal/ssd"
	"github.com/firncache/firn/internal/vfs"
)

// Config is what a Store is made of.
type Config struct {
	RAMBytes    int64            // as firn.Options has it, and MaxRAMBytes
	MaxRAMBytes int64            //
	Clock       func() time.Time // nil: the system's
	Grace       int64            // how long the tiers keep what has expired, in milliseconds
	Evicted     func(key, value []byte, cause ram.Cause)

	Dir string     // of the SSD tier; empty: there is none
	SSD ssd.Config // but for FS, Memory, Grace and Now, which the Store gives

	FS     vfs.FS            // for tests: instead of Dir
	Adjust func(*ssd.Config) // for tests: changes what the SSD tier is opened with
}

// Store is the tiers of a cache. All methods are safe for concurrent use. It is
// held by value by what it belongs to, and so keeps that from being collected.
type Store struct {
	ram   *ram.Tier
	ssd   *ssdTier // nil: RAM alone
	now   func() int64
	grace bool // the tiers keep what has expired
	hook  atomic.Pointer[WriteHook]
}

// Open opens the tiers. If it fails, none is open.
func (s *Store) Open(cfg Config) (err error) {
	s.now, s.grace = cfg.ticker(), cfg.Grace > 0
	if s.ssd, err = openSSD(&cfg, s.now); err != nil {
		return err
	}
	if s.ram, err = ram.New(s.ramConfig(&cfg)); err != nil {
		return with(ramOpenError(&cfg, err), s.ssd.abandon())
	}
	if s.ssd != nil {
		if err := s.ssd.tier.Start(s.ram.Charge); err != nil {
			err = with(badOption("RAMBytes", "is too small for this SSD tier: %w", err), s.ssd.abandon())
			s.ram.Free()
			return err
		}
	}
	// The memory's address space outlives Close, so that a late reader finds
	// zeros and not a fault. It goes when nobody can reach the cache any more.
	runtime.AddCleanup(s, leftTiers.free, leftTiers{s.ram, s.ssd})
	return nil
}

// leftTiers are what a store leaves behind.
type leftTiers struct {
	ram *ram.Tier
	ssd *ssdTier
}

// free gives back what the tiers have. A store that nobody closed is closed
// first, without writing to the SSD what RAM holds.
func (t leftTiers) free() {
	if t.ssd == nil {
		t.ram.Free()
		return
	}
	go func() { // it may take a while
		t.ram.Close()
		_ = t.ssd.tier.Close()
		t.ssd.tier.Free()
		t.ram.Free()
	}()
}

// Now is the store's time in milliseconds, above 0.
func (s *Store) Now() int64 { return s.now() }

// Passed reports whether a moment, in the store's time, has come. It costs less
// than Now, and may be late by as much as a read of an expired value.
func (s *Store) Passed(moment int64) bool {
	passed := s.ram.Passed(moment)
	runtime.KeepAlive(s)
	return passed
}

// HasSSD reports whether there is a tier below RAM, so that a lookup may wait.
func (s *Store) HasSSD() bool { return s.ssd != nil }

// RAM is the RAM tier, for tests. The caller keeps the store alive.
func (s *Store) RAM() *ram.Tier { return s.ram }

// Len is the number of records: those in both tiers count twice, and so do some
// that have expired count once.
func (s *Store) Len() int {
	n := s.ram.Len()
	if s.ssd != nil {
		n += s.ssd.tier.Len()
	}
	runtime.KeepAlive(s)
	return n
}

// All yields every live record, those in RAM first. The slices are lent until
// yield returns; the loop ends when that is false.
func (s *Store) All(yield func(key, value []byte) bool) {
	more := true
	s.ram.All(func(key, value []byte) bool {
		more = yield(key, value)
		return more
	})
	if more && s.ssd != nil {
		s.ssd.tier.All(func(hash uint64, key, value []byte) bool {
			if _, above := s.ram.DeadlineHashed(hash, key); above {
				return true
			}
			return yield(key, value)
		})
	}
	runtime.KeepAlive(s)
}

// Stats are what the tiers tell; those of an SSD tier that there is not are 0.
func (s *Store) Stats() (inRAM ram.Stats, onSSD ssd.Stats) {
	inRAM = s.ram.Stats()
	if s.ssd != nil {
		onSSD = s.ssd.tier.Stats()
	}
	runtime.KeepAlive(s)
	return inRAM, onSSD
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
	runtime.KeepAlive(s)
	return err
}

// Clear removes every record that was there when it was called.
func (s *Store) Clear() error {
	var ok bool
	s.emptied(false, func() {
		if s.ssd == nil {
			ok = s.ram.Clear()
		} else {
			ok = s.ssd.clear(s.ram)
		}
	})
	return errIfClosed(ok)
}

// Close ends the store and gives its memory back. What RAM holds goes to the SSD
// tier first. A second Close returns ErrClosed.
func (s *Store) Close() error {
	var err error
	s.emptied(true, func() { err = s.close() })
	return err
}

// close closes the tiers.
func (s *Store) close() error {
	if s.ssd == nil {
		return errIfClosed(s.ram.Close())
	}
	if s.ssd.closing.Swap(true) {
		return ErrClosed
	}
	s.ssd.tier.AdmitAll()
	s.ram.DemoteAllWhile(s.ssd.tier.WaitRoom)
	s.ram.Close()
	if err := s.ssd.tier.Close(); err != nil {
		return fmt.Errorf("firn: close the SSD tier: %w", err)
	}
	return nil
}
