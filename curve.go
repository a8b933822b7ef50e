package firn

import (
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/firncache/firn/internal/advice"
	"github.com/firncache/firn/internal/policy/whatif"
)

// WhatIf says whether a cache simulates itself at other sizes: see Cache.Curve.
type WhatIf uint8

// The choices.
const (
	WhatIfOn  WhatIf = iota // a hundredth of the RAM budget, at most 1 MiB, and at most 1 % of a processor
	WhatIfOff               // Curve has no points
)

func (w WhatIf) String() string {
	switch w {
	case WhatIfOn:
		return "on"
	case WhatIfOff:
		return "off"
	}
	return fmt.Sprintf("WhatIf(%d)", uint8(w))
}

// MarshalText is the choice's name.
func (w WhatIf) MarshalText() ([]byte, error) { return []byte(w.String()), nil }

// UnmarshalText takes "on" or "off".
func (w *WhatIf) UnmarshalText(text []byte) error { return named(w, WhatIfOff, text) }

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
	CurveValid   = CurveState(whatif.Valid)
	CurveFilling = CurveState(whatif.Filling) // not enough has flowed through for a cache of this size: see CurvePoint.Filled
	CurveFewKeys = CurveState(whatif.FewKeys) // too few keys of the sample stand behind it
)

func (s CurveState) String() string {
	switch s {
	case CurveValid:
		return "valid"
	case CurveFilling:
		return "filling"
	case CurveFewKeys:
		return "few keys"
	}
	return fmt.Sprintf("CurveState(%d)", uint8(s))
}

// MarshalText is String.
func (s CurveState) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText accepts what String returns of the states.
func (s *CurveState) UnmarshalText(text []byte) error {
	for _, state := range []CurveState{CurveValid, CurveFilling, CurveFewKeys} {
		if string(text) == state.String() {
			*s = state
			return nil
		}
	}
	return fmt.Errorf("firn: %q is no state of a curve's point: want valid, filling or few keys", text)
}

// moment is what was counted until a time.
type moment struct {
	at                                int64 // milliseconds of the store's clock
	hits, misses, ssdHits, sharedHits uint64
	loads                             uint64        // in values
	loading                           time.Duration // all calls of loaders together
}

// lately remembers two moments, so that rates are those of late, and not since Open, however
// often they are asked for.
type lately struct {
	mu        sync.Mutex
	from, mid moment
}

// window is how old a moment gets, in milliseconds, before it is followed by the next.
const window = 30_000

func (l *lately) open(now int64) { l.from.at, l.mid.at = now, now }

// since is a moment at least a window ago, or the first.
func (l *lately) since(now moment) moment {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case now.at < l.mid.at-window: // the clock was set back
		l.from, l.mid = now, now
	case now.at-l.mid.at >= window:
		l.from, l.mid = l.mid, now
	}
	return l.from
}

// rates are what happened between two moments.
type rates struct {
	reads      float64       // in RAM, a second
	unanswered float64       // share of these that no tier has answered
	byShared   float64       // share of these that the shared tier has answered
	loadTime   time.Duration // mean of a value; 0: none was measured
	both       *SizeCurve    // of RAM and SSD as one cache; nil: not known
	bySSD      float64       // share of reads that the SSD has answered
	ssdBytes   int64         // of the bytes of both, those on the SSD
}

func ratesOf(from, to moment) (r rates) {
	seconds := float64(to.at-from.at) / 1000
	hits, misses := float64(less(to.hits, from.hits)), float64(less(to.misses, from.misses))
	ssd, shared := float64(less(to.ssdHits, from.ssdHits)), float64(less(to.sharedHits, from.sharedHits))
	r.reads = quotient(hits+misses, seconds)
	r.unanswered = quotient(max(misses-ssd-shared, 0), hits+misses)
	r.byShared = quotient(shared, hits+misses)
	r.bySSD = quotient(min(ssd, misses), hits+misses)
	if to.loads == from.loads { // of late there were none
		from = moment{}
	}
	r.loadTime = time.Duration(quotient(float64(to.loading-from.loading), float64(less(to.loads, from.loads))))
	return r
}

// less is a-b, 0 below 0: counters that are not synchronized may fall.
func less(a, b uint64) uint64 { return a - min(a, b) }

// quotient is a/b, 0 if that is no number or none that a can be above 0.
func quotient(a, b float64) float64 {
	if q := a / b; b > 0 && !math.IsNaN(q) && !math.IsInf(q, 0) {
		return q
	}
	return 0
}

// sizes is the curve of tiers of so many bytes in all.
func (r *rates) sizes(sim *whatif.Curve, bytes int64, overSSD bool) SizeCurve {
	s := SizeCurve{Reads: sim.Reads, Window: sim.Window, MissRatio: sim.Real, Simulated: sim.Control, Evicts: sim.Evicting}
	now := 0
	for i := range sim.Points {
		s.Points = append(s.Points, point(&sim.Points[i], bytes))
		if sim.Points[i].Factor == 1 {
			now = i
		}
	}
	present := s.Points[now]
	for i := range s.Points {
		if p := &s.Points[i]; p.State == CurveValid && present.State == CurveValid {
			r.below(&present, p, overSSD)
			p.Saved = seconds((r.loads(overSSD, &present) - p.Loads) * r.loadTime.Seconds() * 3600)
		}
	}
	return s
}

// point is one size's, without the rates.
func point(p *whatif.Point, bytes int64) CurvePoint {
	c := CurvePoint{Factor: p.Factor, Bytes: int64(p.Factor * float64(bytes)), State: CurveState(p.State), Filled: p.Filled, Keys: p.Keys}
	if c.State == CurveValid {
		c.MissRatio, c.Error, c.ByteMissRatio, c.Life = p.MissRatio, p.Error, p.ByteMissRatio, max(p.Life, 0)
	}
	return c
}

// below sets how many of the reads that miss at a point are answered by no tier, and by the SSD if
// it is below, a second. What a shared tier lacks now it lacks whatever there is above. Over an SSD the
// present size has what was measured, and another one the difference on top.
func (r *rates) below(now, p *CurvePoint, overSSD bool) {
	p.Loads = r.loads(overSSD, p)
	if overSSD {
		answered := r.bySSD + (p.MissRatio - now.MissRatio) - (p.Loads-r.loads(overSSD, now))/max(r.reads, 1e-9)
		p.SSDReads = max(answered, 0) * r.reads
	}
}

// loads is how many reads a second no tier answers at a point.
func (r *rates) loads(overSSD bool, p *CurvePoint) float64 {
	missed := p.MissRatio // by RAM and SSD
	if overSSD {
		missed = min(missed, r.missedByBoth(p))
	}
	if r.byShared > 0 {
		missed = min(missed, r.unanswered)
	}
	return missed * r.reads
}

// missedByBoth is the share of reads that RAM of a point's bytes and the SSD miss: as measured, and the
// difference that the curve of both tells. If that is not known they miss what they miss now.
func (r *rates) missedByBoth(p *CurvePoint) float64 {
	measured := r.unanswered + r.byShared
	if r.both != nil && p.Factor != 1 {
		now := int64(float64(p.Bytes) / p.Factor)
		there, ok := r.both.missedAt(p.Bytes + r.ssdBytes)
		here, known := r.both.missedAt(now + r.ssdBytes)
		if ok && known {
			return max(measured+there-here, 0)
		}
	}
	return measured
}

// missedAt is the miss ratio at a size between two valid points: of its logarithm it is a line.
func (s *SizeCurve) missedAt(bytes int64) (missRatio float64, ok bool) {
	for i := range s.Points[1:] {
		a, b := &s.Points[i], &s.Points[i+1]
		if a.Bytes <= bytes && bytes <= b.Bytes && a.State == CurveValid && b.State == CurveValid {
			part := math.Log(float64(bytes)/float64(a.Bytes)) / math.Log(float64(b.Bytes)/float64(a.Bytes))
			return a.MissRatio + part*(b.MissRatio-a.MissRatio), true
		}
	}
	return 0, false
}

// seconds is a time of so many, as far as a Duration can tell.
func seconds(s float64) time.Duration {
	const most = float64(math.MaxInt64 / time.Second)
	return time.Duration(min(max(s, -most), most) * float64(time.Second))
}

// advise says what the curves mean. Over an SSD the loads at other sizes of RAM come from the curve of
// both tiers, and so does their doubt.
func (r *rates) advise(c *Curve, overSSD bool) {
	doubt := 0.0
	for i := range c.Both.Points {
		if p := &c.Both.Points[i]; p.Factor == 1 {
			doubt = p.Error * r.reads
		}
	}
	c.RAM.Advice = r.sentences(&c.RAM, advice.Curve{Memory: "RAM", Lower: overSSD, Doubt: doubt})
	if overSSD {
		c.Both.Advice = r.sentences(&c.Both, advice.Curve{Memory: "RAM and SSD"})
	}
}

func (r *rates) sentences(s *SizeCurve, of advice.Curve) []string {
	of.Evicts, of.Loads = s.Evicts, r.loadTime > 0
	of.Lacking = "Other sizes are not simulated: the cache is too small for that, or Options.WhatIf is off."
	for i := range s.Points {
		p := &s.Points[i]
		of.Points = append(of.Points, advice.Point{
			Factor: p.Factor, Bytes: p.Bytes, Valid: p.State == CurveValid, Filled: p.Filled, Keys: p.Keys,
			MissRatio: p.MissRatio, Error: p.Error, Loads: p.Loads, SSDReads: p.SSDReads, Saved: p.Saved,
		})
	}
	return of.Sentences()
}
