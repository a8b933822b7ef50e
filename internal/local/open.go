package local

import (
	"context"
	"sync/atomic"

	"github.com/firncache/firn/internal/record"

	"github.com/firncache/firn/internal/ram"
)

// Open opens the tiers. If it fails, none is open. The caller calls Start once what lies above is
// open, or Abandon if that fails.
func (s *Store) Open(cfg Config) (err error) {
	s.grace = new(atomic.Int64)
	s.grace.Store(cfg.Grace)
	if s.ssd, err = openSSD(&cfg); err != nil {
		return err
	}
	if s.now = cfg.ticker(); s.ssd != nil {
		s.now = s.ssd.tier.Now
	}
	if s.RAM, err = ram.New(s.ramConfig(&cfg)); err != nil {
		return with(ramOpenError(&cfg, err), s.ssd.abandon())
	}
	if s.ssd != nil {
		s.ssd.evictions.ram = s.RAM
		if err := s.ssd.tier.Start(s.RAM.Reserve); err != nil {
			err = with(badOption("RAMBytes", "is too small for this SSD tier: %w", err), s.ssd.abandon())
			s.RAM.Free()
			return err
		}
		s.recovered = s.ssd.tier.Len() > 0
	}
	s.openRegistry(cfg.RAMBytes)
	return nil
}

// Abandon closes the tiers of a store that could not be opened, and adds the errors of that to
// err.
func (s *Store) Abandon(err error) error {
	err = with(err, s.ssd.abandon())
	s.RAM.Close()
	s.RAM.Free()
	return err
}

// Start begins what the store does by itself. above closes what lies above the store, if that is
// given, and does not hold on to the store.
func (s *Store) Start(cfg *Config, above func(context.Context) error) {
	s.mirror = newMirror(cfg.Mirror, s.RAM, s.ssd)
	s.freeWhenUnreachable(above)
}

// ramConfig is the RAM tier's, above the SSD tier.
func (s *Store) ramConfig(cfg *Config) ram.Config {
	rc := ram.Config{
		Bytes: cfg.RAMBytes, MaxBytes: cfg.MaxRAMBytes,
		Seed:    record.NewSeed(),
		Grace:   cfg.Grace,
		Slide:   cfg.Slide,
		OnEvict: cfg.Evicted, Wants: cfg.Wants,
		Simulation: cfg.Simulation,
	}
	if cfg.Clock != nil || s.ssd != nil {
		rc.Now, rc.Ticking = s.now, cfg.Clock == nil
	}
	if s.ssd != nil {
		rc.Lower, rc.Seed = s.ssd, s.ssd.tier.Seed()
	}
	return rc
}

// Clear removes every record that was there when it was called.
func (s *Store) Clear() error {
	var ok bool
	s.emptied(false, func() {
		if s.ssd == nil {
			ok = s.RAM.Clear()
		} else {
			ok = s.ssd.clear(s.RAM)
		}
	})
	return errIfClosed(ok)
}
