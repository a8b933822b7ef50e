package command

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/cmd/firn/replay"
	"github.com/firncache/firn/internal/inside"
	"github.com/firncache/firn/stats"
)

// store is firn as the replay loop sees it.
type store struct {
	*firn.Cache
	ssd       firn.SSDOptions // Dir empty: no SSD tier
	temporary bool
	found     int64 // entries that the SSD tier had at Open
}

// OpenFirn opens firn with an SSD tier, or without one if ssd names no directory.
// temporary says that the directory is deleted after Close. Log may be nil. The TTL comes with
// every Set.
func OpenFirn(ssd firn.SSDOptions, temporary bool, log *slog.Logger) replay.OpenFunc {
	return func(o replay.StoreOptions) (replay.Store, error) {
		if ssd.Dir == "" {
			ssd = firn.SSDOptions{}
		}
		opened, err := inside.OpenToReplay(firn.Options{RAMBytes: o.RAMBytes, SSD: ssd, Log: log})
		if err != nil {
			return nil, err
		}
		cache := opened.(*firn.Cache)
		return store{cache, ssd, temporary, cache.Stats().SSD.Entries}, nil
	}
}

// CacheOf is the cache of a store that a function of OpenFirn opened.
func CacheOf(s replay.Store) *firn.Cache { return s.(store).Cache }

// Close closes the cache. It does not write what RAM holds to files that nothing
// will open again, and does not report what a slow disk left of it.
func (s store) Close() error {
	if !s.temporary {
		return s.Cache.Close()
	}
	_ = s.Clear(context.Background()) // it saves time, no more: the files go in any case
	_ = s.Cache.Close()
	return nil
}

func (s store) Set(key, value []byte, ttl time.Duration) error {
	if ttl == 0 {
		ttl = firn.Forever
	}
	err := s.SetWithTTL(key, value, ttl)
	if errors.Is(err, firn.ErrTooLarge) {
		return fmt.Errorf("%w: %w", replay.ErrTooLarge, err)
	}
	return err
}

func (s store) Stats() replay.StoreStats {
	stats, curve := s.Cache.Stats(), s.Curve()
	of := replay.StoreStats{
		Curve:     &curve,
		Evictions: int64(stats.Evictions),
		Expired:   int64(stats.Expirations),
		Bytes:     stats.RAM.UsedBytes,
	}
	if s.ssd.Dir != "" {
		of.SSD = s.ssdStats(&stats)
	}
	return of
}

func (s store) ssdStats(st *stats.Cache) *replay.SSD {
	return &replay.SSD{
		Bytes: s.ssd.Bytes, Dir: s.ssd.Dir, Admission: s.ssd.Admission.String(), On: st.SSD.Online, Direct: st.SSD.Direct, Engine: st.SSD.ReadEngine.String(), Found: s.found,
		Hits: int64(st.SSD.Hits), Promotions: int64(st.SSD.Promotions),
		Demotions: int64(st.SSD.Demotions), Writes: int64(st.SSD.Writes), WriteBytes: int64(st.SSD.WriteBytes),
		Refused: int64(st.SSD.Rejected), Limited: int64(st.SSD.Limited), Shed: int64(st.SSD.Dropped), IndexFull: int64(st.SSD.IndexFull), TooLarge: int64(st.SSD.TooLarge),
		Superseded: int64(st.SSD.Invalidated), Evictions: int64(st.SSD.Evictions), Reinsertions: int64(st.SSD.Reinsertions),
		WrittenBytes: int64(st.SSD.WrittenBytes), Reads: int64(st.SSD.Reads), ReadBytes: int64(st.SSD.ReadBytes),
		P50: int64(st.SSD.ReadDurations.Quantile(.5)), P99: int64(st.SSD.ReadDurations.Quantile(.99)), P999: int64(st.SSD.ReadDurations.Quantile(.999)),
		Faults:  int64(st.SSD.ReadErrors + st.SSD.WriteErrors + st.SSD.Corrupt),
		Entries: st.SSD.Entries, FileBytes: st.SSD.Bytes, Segments: st.SSD.Segments, FreeSegments: st.SSD.FreeSegments,
		IndexBytes: st.SSD.IndexBytes, MemoryBytes: st.SSD.MemoryBytes,
	}
}
