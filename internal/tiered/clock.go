package tiered

import (
	"time"

	"github.com/firncache/firn/internal/clock"
)

// MaxTTL is far beyond any use and small enough to be added to any time.
const MaxTTL = 100 * 365 * 24 * time.Hour

// atOpen is what the store's clock tells at Open if the user gives one: that may
// step back by as much as a value lives.
const atOpen = int64(MaxTTL / time.Millisecond)

// ticker tells the time in milliseconds, always above 0: a deadline below 0 is
// that of a negative entry.
func (cfg *Config) ticker() func() int64 {
	if cfg.Clock == nil {
		return clock.Millis
	}
	start := cfg.Clock()
	return func() int64 { return max(cfg.Clock().Sub(start).Milliseconds()+atOpen, 1) }
}

// wall is the time of day.
func (cfg *Config) wall() time.Time {
	if cfg.Clock != nil {
		return cfg.Clock()
	}
	return time.Now()
}
