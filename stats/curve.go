package stats

import (
	"time"

	"github.com/firncache/firn/internal/enumtext"
)

// Curve is what a cache would do with more memory, or less: an estimate from miniature
// caches that live on the requests for a sample of the keys. docs/OPERATIONS.md tells how to read it.
type Curve struct {
	// RAM has the RAM tier at other budgets, the SSD tier being as it is.
	RAM SizeCurve `json:"ram"`
	// Both has RAM and SSD at other sizes together, as if they were one cache. Without an
	// SSD tier it has no points.
	Both SizeCurve `json:"both"`
	// Reads is how many reads there are a second; SizeCurve.Reads is a number of reads.
	Reads float64 `json:"reads_per_second"`
	// LoadTime is the mean time that a loader took for a value, 0 if none was measured: of a call
	// for many values each has its share.
	LoadTime time.Duration `json:"load_time_ns"`
}

// SizeCurve is the miss ratio by size.
type SizeCurve struct {
	// Points are those of ¼, ½, 1, 2, 4 and 8 times the present size, in this order; none
	// with WhatIfOff, or a cache so small that it is not simulated. All valid ones are about the same
	// reads.
	Points []CurvePoint `json:"points"`
	// Reads is how many reads of the cache the points are about, the latest, and Window the time in
	// which these came.
	Reads  float64       `json:"reads"`
	Window time.Duration `json:"window_ns"`
	// MissRatio is the measured one, over these reads, and Simulated that of the miniature cache of the
	// present size: a check. Points are corrected by the difference.
	MissRatio float64 `json:"miss_ratio"`
	Simulated float64 `json:"simulated"`
	// Evicts says whether the cache has evicted records for want of room.
	Evicts bool `json:"evicts"`
	// Advice is what the points mean, in sentences: what more memory would bring. It recommends no
	// smaller size, and says so where sizes cannot be told apart.
	Advice []string `json:"advice"`
}

// CurvePoint is what a cache of another size would do. Its figures are 0 unless State is
// CurveValid.
type CurvePoint struct {
	Factor float64    `json:"factor"` // of the present size
	Bytes  int64      `json:"bytes"`
	State  CurveState `json:"state"`
	Filled float64    `json:"filled"` // share, 0 to 1, of what has to flow through before it is valid
	Keys   int        `json:"keys"`   // of the sample that stand behind it

	MissRatio     float64 `json:"miss_ratio"`      // 0 to 1, of all reads; no larger size has more than a smaller one
	Error         float64 `json:"error"`           // the true miss ratio is within ± this in 19 of 20 cases
	ByteMissRatio float64 `json:"byte_miss_ratio"` // by the bytes of records

	SSDReads float64       `json:"ssd_reads_per_second"` // that it would bring; 0 in Both
	Loads    float64       `json:"loads_per_second"`     // misses of all tiers
	Life     time.Duration `json:"life_ns"`              // that an entry stays, on average, until it is evicted, expires or is deleted; 0: none came in

	// Saved is the time of the source that this size saves in an hour beside the present one; below 0
	// what it costs more. 0 at the present size, and if LoadTime is.
	Saved time.Duration `json:"saved_ns_per_hour"`
}

// CurveState says whether a point can be relied on.
type CurveState uint8

// The states.
const (
	CurveValid   CurveState = iota
	CurveFilling            // not enough has flowed through for a cache of this size: see CurvePoint.Filled
	CurveFewKeys            // too few keys of the sample stand behind it
)

func (s CurveState) String() string { return enumtext.Name(s, "valid", "filling", "few keys") }

// MarshalText is String.
func (s CurveState) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText accepts what String returns of the states.
func (s *CurveState) UnmarshalText(text []byte) error { return enumtext.Parse(s, CurveFewKeys, text) }
