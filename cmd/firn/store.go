package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/replay"
)

// store is firn as the replay loop sees it.
type store struct{ *firn.Cache }

// openStore opens firn under the given options. The TTL comes with every Set.
func openStore(o replay.StoreOptions) (replay.Store, error) {
	cache, err := firn.Open(firn.Options{RAMBytes: o.RAMBytes})
	if err != nil {
		return nil, err
	}
	return store{cache}, nil
}

func (s store) Set(key, value []byte, ttl time.Duration) error {
	err := s.SetWithTTL(key, value, ttl)
	if errors.Is(err, firn.ErrTooLarge) {
		return fmt.Errorf("%w: %w", replay.ErrTooLarge, err)
	}
	return err
}

func (s store) Stats() replay.StoreStats {
	stats := s.Cache.Stats()
	return replay.StoreStats{
		Evictions: int64(stats.Evictions),
		Expired:   int64(stats.Expirations),
		Bytes:     stats.RAMUsedBytes,
	}
}
