package command

import (
	"errors"
	"fmt"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/cmd/firn/replay"
)

// store is firn as the replay loop sees it.
type store struct {
	*firn.Cache
	ssd       firn.SSDOptions // Dir empty: no SSD tier
	temporary bool
	found     int64 // entries that the SSD tier had at Open
}

// OpenFirn opens firn with an SSD tier, or without one if ssd names no directory.
// temporary says that the directory is deleted after Close. The TTL comes with
// every Set.
func OpenFirn(ssd firn.SSDOptions, temporary bool) replay.OpenFunc {
	return func(o replay.StoreOptions) (replay.Store, error) {
		if ssd.Dir == "" {
			ssd = firn.SSDOptions{}
		}
		cache, err := firn.Open(firn.Options{RAMBytes: o.RAMBytes, SSD: ssd})
		if err != nil {
			return nil, err
		}
		return store{cache, ssd, temporary, cache.Stats().SSDEntries}, nil
	}
}

// Close closes the cache. It does not write what RAM holds to files that nobody
// will open again, and does not report what a slow disk left of it.
func (s store) Close() error {
	if !s.temporary {
		return s.Cache.Close()
	}
	_ = s.Clear() // it saves time, no more: the files go in any case
	_ = s.Cache.Close()
	return nil
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
	of := replay.StoreStats{
		Evictions: int64(stats.Evictions),
		Expired:   int64(stats.Expirations),
		Bytes:     stats.RAMUsedBytes,
	}
	if s.ssd.Dir != "" {
		of.SSD = s.ssdStats(&stats)
	}
	return of
}

func (s store) ssdStats(st *firn.Stats) *replay.SSD {
	return &replay.SSD{
		Bytes: s.ssd.Bytes, Dir: s.ssd.Dir, Admission: s.ssd.Admission.String(), On: st.SSDOn, Direct: st.SSDDirect, Engine: st.SSDReadEngine.String(), Found: s.found,
		Hits: int64(st.SSDHits), Promotions: int64(st.Promotions),
		Demotions: int64(st.Demotions), Writes: int64(st.SSDWrites), WriteBytes: int64(st.SSDWriteBytes),
		Refused: int64(st.SSDRefused), Limited: int64(st.SSDLimited), Shed: int64(st.SSDShed), IndexFull: int64(st.SSDIndexFull), TooLarge: int64(st.SSDTooLarge),
		Superseded: int64(st.SSDSuperseded), Evictions: int64(st.SSDEvictions), Reinsertions: int64(st.SSDReinsertions),
		WrittenBytes: int64(st.SSDWrittenBytes), Reads: int64(st.SSDReads), ReadBytes: int64(st.SSDReadBytes),
		P50: st.SSDReadP50, P99: st.SSDReadP99, P999: st.SSDReadP999,
		Faults:  int64(st.SSDReadErrors + st.SSDWriteErrors + st.SSDCorrupt),
		Entries: st.SSDEntries, FileBytes: st.SSDBytes, Segments: st.SSDSegments, FreeSegments: st.SSDFreeSegments,
		IndexBytes: st.SSDIndexBytes, MemoryBytes: st.SSDMemoryBytes,
	}
}
