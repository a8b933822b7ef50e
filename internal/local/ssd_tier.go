package local

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/firncache/firn/internal/evicted"
	"github.com/firncache/firn/internal/ram"
	"github.com/firncache/firn/internal/record"
	"github.com/firncache/firn/internal/ssd"
	"github.com/firncache/firn/internal/vfs"
)

// ssdTier is the SSD tier as the store uses it: it is ram.LowerTier to the RAM tier,
// and its time is the store's.
type ssdTier struct {
	tier      *ssd.Tier
	bytes     int64        // of its files, at most
	ramBytes  int64        // the RAM budget at Open
	clearing  atomic.Int32 // Clears under way: nothing is promoted meanwhile
	timeout   error        // ErrSSDTimeout, with the time
	evictions evictions
}

// openSSD opens the SSD tier, if there is to be one; otherwise it is nil.
func openSSD(cfg *Config) (*ssdTier, error) {
	fs := cfg.FS
	if fs == nil {
		if cfg.Dir == "" {
			return nil, nil
		}
		var err error
		if fs, err = vfs.OS(cfg.Dir); err != nil {
			return nil, badOption("SSD.Dir", "cannot be used: %w", err)
		}
	}
	sc := cfg.SSD
	sc.FS, sc.Memory, sc.Grace = fs, cfg.RAMBytes, cfg.Grace
	sc.Now, sc.Machine = cfg.wall(), cfg.machine()
	if cfg.Adjust != nil {
		cfg.Adjust(&sc)
	}
	d := &ssdTier{bytes: sc.Bytes, ramBytes: cfg.RAMBytes, timeout: fmt.Errorf("%w: within %v", ErrSSDTimeout, sc.ReadTimeout)}
	sc.Evictions = &d.evictions
	tier, err := ssd.Open(sc)
	if err != nil {
		return nil, ssdOpenError(cfg, err)
	}
	d.tier = tier
	return d, nil
}

// abandon closes the tier of a store that could not be opened.
func (d *ssdTier) abandon() error {
	if d == nil {
		return nil
	}
	err := d.tier.Close(context.Background())
	go d.tier.Free() // when the disk has given all back
	return err
}

// Prefetch, Invalidate, Demote, WaitForRoom, IsCurrent and Has are ram.LowerTier,
// MaxWhole and DemoteParts ram.LowerTierInParts: the RAM tier calls them, all but
// WaitForRoom and MaxWhole under the lock that orders the writes of a key.

func (d *ssdTier) Prefetch(hash uint64) { d.tier.Prefetch(hash) }

func (d *ssdTier) Invalidate(hash uint64) { d.tier.Invalidate(hash) }

func (d *ssdTier) Demote(hash uint64, key, value []byte, deadline int64, read bool, copied record.Copy) bool {
	return d.tier.Demote(hash, key, value, deadline, read, copied)
}

func (d *ssdTier) MaxWhole() int { return d.tier.MaxWhole() }

func (d *ssdTier) DemoteParts(hash uint64, keyLen, valueLen int, deadline int64, read bool, copied record.Copy) (to ram.Transfer, there bool) {
	parts, there := d.tier.DemoteParts(hash, keyLen, valueLen, deadline, read, copied)
	if parts == nil { // which is no nil Transfer
		return nil, there
	}
	return parts, there
}

func (d *ssdTier) WaitForRoom(waited time.Duration) (inAll time.Duration, ok bool) {
	return d.tier.WaitForRoom(waited)
}

func (d *ssdTier) IsCurrent(hash, token uint64) bool {
	return d.clearing.Load() == 0 && !d.evictions.closing.Load() && d.tier.IsCurrent(hash, token)
}

// lacks reports whether there is no record under a hash, or the one that a read has
// found to be none of the key's. What is being cleared counts as gone.
func (d *ssdTier) lacks(hash, token uint64) bool {
	return d.clearing.Load() != 0 || d.tier.Lacks(hash, token)
}

func (d *ssdTier) Has(hash uint64) bool { return !d.lacks(hash, 0) }

// Room is ram.SimulatedLower.
func (d *ssdTier) Room() (bytes int64, evicting bool, hits uint64) { return d.tier.Room() }

// clear empties both tiers. Nothing is promoted meanwhile: a value read from the
// disk before it is cleared must not come to RAM after that was. A Close, which begins with RAM,
// may have saved what is cleared after that.
func (d *ssdTier) clear(upper *ram.Tier) bool {
	d.clearing.Add(1)
	defer d.clearing.Add(-1)
	upper.Clear()
	d.tier.Clear()
	return !upper.Closed()
}

// evictions is ssd.Evictions: it has the RAM tier note what the SSD tier evicts, so that
// OnEvict is called for it as for any other record.
type evictions struct {
	ram     *ram.Tier // set before the SSD tier starts
	closing atomic.Bool
	noted   *evicted.List // since the last call of Evicted
}

func (e *evictions) Wanted() bool { return e.ram.Notifies(evicted.LowerEvicted) && !e.closing.Load() }

func (e *evictions) Evict(key, value []byte, expired bool, take func() bool) {
	if e.noted == nil {
		e.noted = new(evicted.List)
	}
	e.ram.EvictLower(e.ram.Hash(key), key, value, expired, take, e.noted)
}

func (e *evictions) Evicted() (tell func()) {
	noted := e.noted
	if e.noted = nil; noted == nil || noted.Empty() {
		return nil
	}
	return noted.Notify
}
