package against

import (
	"fmt"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/bench/rivals"
	"github.com/firncache/firn/cmd/firn/replay"
	"github.com/firncache/firn/cmd/firn/replay/command"
)

// stores maps firn and the rivals that hold values of any size to their constructors.
func stores() map[string]replay.OpenFunc {
	open := map[string]replay.OpenFunc{rivals.Firn: command.OpenFirn(firn.SSDOptions{}, false, nil)}
	for _, r := range rivals.All {
		if r.Name != rivals.Firn && !r.Fixed {
			open[r.Name] = func(o replay.StoreOptions) (replay.Store, error) { return openStore(r, o) }
		}
	}
	return open
}

// store makes a rival a replay.Store.
type store struct {
	rival rivals.Rival
	cache rivals.Cache
	ttl   rivals.TTLSetter // nil: the rival knows no lifetimes per entry
}

func openStore(r rivals.Rival, o replay.StoreOptions) (replay.Store, error) {
	c, err := r.Open(rivals.Config{Bytes: o.RAMBytes, TTL: o.TTL, EntryTTLs: true})
	if err != nil {
		return nil, fmt.Errorf("open %s with %d bytes: %w", r.Name, o.RAMBytes, err)
	}
	s := &store{rival: r, cache: c}
	s.ttl, _ = c.(rivals.TTLSetter)
	return s, nil
}

// Get copies also what the rival would lend: the caller reuses dst.
func (s *store) Get(dst, key []byte) ([]byte, bool) {
	if s.rival.Lends {
		value, ok := s.cache.Get(nil, key)
		return append(dst, value...), ok
	}
	return s.cache.Get(dst, key)
}

// Set takes a refusal for too large a value, except from a rival that also
// refuses when it is busy: that Set is lost, as it is for the rival's users.
func (s *store) Set(key, value []byte, ttl time.Duration) error {
	var ok bool
	if s.ttl != nil {
		ok = s.ttl.SetTTL(key, value, ttl)
	} else {
		ok = s.cache.Set(key, value)
	}
	if !ok && !s.rival.Drops {
		return fmt.Errorf("%s: value of %d bytes: %w", s.rival.Name, len(value), replay.ErrTooLarge)
	}
	return nil
}

func (s *store) Stats() replay.StoreStats {
	stats := replay.StoreStats{Evictions: replay.Unknown, Expired: replay.Unknown, Bytes: replay.Unknown}
	if c, ok := s.cache.(rivals.Counter); ok {
		stats.Evictions = c.Evictions()
	} else if !s.rival.Bound {
		stats.Evictions = 0
	}
	return stats
}

func (s *store) Close() error {
	s.cache.Close()
	return nil
}
