package tiered

import (
	"context"
	"sync/atomic"

	"github.com/firncache/firn/internal/record"

	"github.com/firncache/firn/internal/ram"
)

// Open opens the tiers. If it fails, none is open.
func (s *Store) Open(cfg Config) (err error) {
	s.grace = new(atomic.Int64)
	s.grace.Store(cfg.Grace)
	cfg.prepareShared()
	if s.ssd, err = openSSD(&cfg); err != nil {
		return err
	}
	if s.now = cfg.ticker(); s.ssd != nil {
		s.now = s.ssd.tier.Now
	}
	if s.ram, err = ram.New(s.ramConfig(&cfg)); err != nil {
		return with(ramOpenError(&cfg, err), s.ssd.abandon())
	}
	if s.ssd != nil {
		s.ssd.evictions.ram = s.ram
		if err := s.ssd.tier.Start(s.ram.Reserve); err != nil {
			err = with(badOption("RAMBytes", "is too small for this SSD tier: %w", err), s.ssd.abandon())
			s.ram.Free()
			return err
		}
		s.recovered = s.ssd.tier.Len() > 0
	}
	s.openRegistry(cfg.RAMBytes)
	if err := s.openShared(&cfg); err != nil {
		err = with(err, s.ssd.abandon())
		s.ram.Close()
		s.ram.Free()
		return err
	}
	s.mirror = newMirror(cfg.Mirror, s.ram, s.ssd)
	s.freeWhenUnreachable()
	return nil
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
	if s.shared != nil {
		return s.clearShared(context.Background())
	}
	return s.clearLocal()
}

// clearLocal is Clear of the local tiers.
func (s *Store) clearLocal() error {
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
