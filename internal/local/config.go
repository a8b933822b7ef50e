package local

import (
	"math"
	"time"

	"github.com/firncache/firn/internal/clock"
	"github.com/firncache/firn/internal/evicted"
	"github.com/firncache/firn/internal/ram"
	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/internal/ssd"
	"github.com/firncache/firn/internal/vfs"
)

// Config is the configuration of a Store.
type Config struct {
	RAMBytes    int64            // as firn.Options has it, and MaxRAMBytes
	MaxRAMBytes int64            //
	Clock       func() time.Time // nil: the system's
	Slide       int64            // how long after its last read a value with an even deadline expires, in milliseconds; 0: reads move none
	Grace       int64            // how long the tiers keep expired entries, in milliseconds
	Simulation  ram.Simulation   // of the cache at other sizes
	Evicted     func(key, value []byte, cause evicted.Cause)
	Wants       func(key []byte, cause evicted.Cause) bool // whether Evicted is to be called: as ram.Config has it

	Dir string     // of the SSD tier; empty: there is none
	SSD ssd.Config // without FS, Memory, Grace, Now and Machine, which the Store gives

	Mirror time.Duration // how often what is in RAM alone is copied to the SSD tier; 0: never

	FS     vfs.FS            // for tests: instead of Dir
	Adjust func(*ssd.Config) // for tests: changes the configuration of the SSD tier
}

// MaxTTL is far beyond any use and small enough to be added to any time.
const MaxTTL = 100 * 365 * 24 * time.Hour

// Forever is the time to live of a value that never expires.
const Forever time.Duration = math.MaxInt64

// atOpen is the store's time at Open if the user gives a clock: that may
// step back by as much as a value lives.
const atOpen = int64(MaxTTL / time.Millisecond)

// ticker is the time in milliseconds, always above 0: a deadline below 0 is
// that of a negative entry. With an SSD tier the store has that tier's time, made of it.
func (cfg *Config) ticker() func() int64 {
	if cfg.Clock == nil && clock.InBubble() {
		cfg.Clock = time.Now // the process's would be another
	}
	if cfg.Clock == nil {
		return clock.Millis
	}
	start := clock.Aligned(cfg.Clock())
	return func() int64 { return max(cfg.Clock().Sub(start).Milliseconds()+atOpen, 1) }
}

// wall is the time in milliseconds since 1970, as it was at Open and goes on from there by the
// ticker: no change of the system's clock moves it.
func (cfg *Config) wall() func() int64 {
	tick, at := cfg.ticker(), time.Now
	if cfg.Clock != nil {
		at = cfg.Clock
	}
	start := shared.UnixOffset(at, tick)
	return func() int64 { return max(start+tick(), 1) }
}

// machine is the time since the machine was started; nil if the user gives a clock.
func (cfg *Config) machine() func() int64 {
	if cfg.Clock != nil {
		return nil
	}
	return clock.Machine
}

// WriteHook is called for every write, so that a cache above the store never answers with
// an older value than the store has. Its methods may be called from many goroutines at
// once, and are called with no lock of the store held.
type WriteHook interface {
	// BeforeWrite is called before the bytes of a key change. Its result goes
	// to AfterWrite: nil, or a pointer, which costs no allocation.
	BeforeWrite(key []byte) (token any)
	// AfterWrite is called when the bytes have changed, or could not be, and before
	// the write is acknowledged. The token is nil also if there was no hook before.
	AfterWrite(key []byte, token any)
	// Clear calls do, which empties the tiers or, with forever, closes them.
	Clear(forever bool, do func())
}
