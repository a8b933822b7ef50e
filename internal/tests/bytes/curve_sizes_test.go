package bytes

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/cachetest"
	"github.com/firncache/firn/internal/tests/harness"
	"github.com/firncache/firn/internal/vfs/vfstest"
	"github.com/firncache/firn/internal/workload"
	"github.com/firncache/firn/stats"
)

// zipfClient reads keys by Zipf's law, and stores those that are missing.
type zipfClient struct {
	t     *testing.T
	c     *firn.Cache
	ranks *workload.Zipf
	key   []byte
	got   []byte
	value []byte
	pause func() // called a thousand times a second of so many reads
}

// readsPerSecond is so low that the simulations need not heed how long an event takes, which is
// measured by the wall clock.
const readsPerSecond = 1_000

func newZipfClient(t *testing.T, c *firn.Cache, keys uint64, pause func()) *zipfClient {
	return &zipfClient{
		t: t, c: c, ranks: workload.NewZipf(rand.NewPCG(1, 2), .8, keys),
		key: make([]byte, 8), value: make([]byte, 1000), pause: pause,
	}
}

// read does so many reads, and tells how many of them missed.
func (z *zipfClient) read(reads int) (missRatio float64) {
	before := z.c.Stats()
	for i := range reads {
		if i%(readsPerSecond/1000) == 0 {
			z.pause()
		}
		binary.LittleEndian.PutUint64(z.key, z.ranks.Next())
		var ok bool
		if z.got, ok = z.c.Get(z.got[:0], z.key); !ok {
			harness.Set(z.t, z.c, z.key, z.value)
		}
	}
	s := z.c.Stats()
	misses := s.Misses - before.Misses
	return float64(misses) / float64(misses+s.Hits-before.Hits)
}

// at is the point of a factor, which has to be valid.
func at(t *testing.T, s stats.SizeCurve, factor float64) stats.CurvePoint {
	t.Helper()
	for _, p := range s.Points {
		if p.Factor == factor {
			if p.State != stats.CurveValid {
				t.Errorf("%v of the size is %v", factor, p.State)
			}
			return p
		}
	}
	t.Fatalf("there is no point of %v", factor)
	return stats.CurvePoint{}
}

// The curve of a cache says what one of another size does, and how much is loaded then.
func TestCurveIsThatOfOtherSizes(t *testing.T) {
	t.Parallel()
	harness.SkipUnderRace(t) // which TestCurveBesideAll is for
	const bytes, keys, reads = 16 << 20, 50_000, 150_000
	misses := map[float64]float64{} // by factor
	var curve stats.Curve
	for _, factor := range []float64{.5, 1, 2} {
		clock := &cachetest.Clock{}
		c := harness.Open(t, firn.Options{RAMBytes: int64(factor * bytes), Clock: clock.Now})
		z := newZipfClient(t, c, keys, func() { clock.Advance(time.Millisecond) })
		z.read(reads)
		if factor == 1 {
			c.Curve() // rates count from here
		}
		misses[factor] = z.read(reads)
		if factor == 1 {
			curve = c.Curve()
			checkEmptied(t, c)
		}
	}
	checkCurve(t, curve)
	if math.Abs(curve.Reads/readsPerSecond-1) > .01 {
		t.Errorf("%.0f reads a second: want %d", curve.Reads, readsPerSecond)
	}
	if n := curve.RAM.Reads; n < reads/10 || n > 2*reads || math.Abs(curve.RAM.Window.Seconds()*readsPerSecond/n-1) > .01 {
		t.Errorf("about %.0f reads in %v: there were %d, some while it filled, and %d a second", n, curve.RAM.Window, 2*reads, readsPerSecond)
	}
	for factor, want := range misses {
		p := at(t, curve.RAM, factor)
		if math.Abs(p.MissRatio-want) > .05 {
			t.Errorf("%d bytes: a miss ratio of %.3f ± %.3f: a real cache has %.3f", p.Bytes, p.MissRatio, p.Error, want)
		}
		if math.Abs(p.Loads-p.MissRatio*curve.Reads) > 1e-6*curve.Reads || p.Bytes != int64(factor*bytes) {
			t.Errorf("%v: %.1f loads a second for %d bytes at %.0f reads and a miss ratio of %.3f", factor, p.Loads, p.Bytes, curve.Reads, p.MissRatio)
		}
	}
	if want := misses[1]; math.Abs(curve.RAM.MissRatio-want) > .02 {
		t.Errorf("a measured miss ratio of %.3f: want about %.3f", curve.RAM.MissRatio, want)
	}
}

// checkEmptied fails unless the curve of a cache that is cleared, and gets another budget, has to
// fill again, at other sizes.
func checkEmptied(t *testing.T, c *firn.Cache) {
	t.Helper()
	if err := c.Clear(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := c.SetRAMBytes(12 << 20); err != nil {
		t.Fatal(err)
	}
	curve := c.Curve()
	checkCurve(t, curve)
	for _, p := range curve.RAM.Points {
		if p.State == stats.CurveValid || p.Bytes != int64(p.Factor*(12<<20)) {
			t.Errorf("after Clear and SetRAMBytes %v is %v, of %d bytes", p.Factor, p.State, p.Bytes)
		}
	}
}

// With an SSD tier, another curve has RAM and SSD as one cache. Less RAM brings reads of the SSD, and
// as many loads as less of both.
func TestCurveOfBothTiers(t *testing.T) {
	t.Parallel()
	harness.SkipUnderRace(t) // which TestCurveBesideAll is for
	synctest.Test(t, func(t *testing.T) {
		c, err := firn.Open(firn.Options{RAMBytes: 48 << 20, Clock: time.Now,
			SSD: harness.With(harness.On(firn.SSDOptions{Bytes: 64 << 20, Admission: firn.AdmitAll}, vfstest.NewMem()), harness.Patiently)})
		if err != nil {
			t.Fatal(err)
		}
		z := newZipfClient(t, c, 250_000, func() { time.Sleep(time.Millisecond) })
		z.read(500_000)
		before := c.Stats()
		c.Curve() // rates count from here
		miss := z.read(200_000)
		curve, s := c.Curve(), c.Stats()
		checkCurve(t, curve)
		ram, both := at(t, curve.RAM, 1), at(t, curve.Both, 1)
		if math.Abs(curve.RAM.Simulated-curve.RAM.MissRatio) > .08 || math.Abs(curve.Both.Simulated-curve.Both.MissRatio) > .08 {
			t.Errorf("simulated miss ratios of %.3f for RAM and %.3f for both: measured are %.3f and %.3f", curve.RAM.Simulated, curve.Both.Simulated, curve.RAM.MissRatio, curve.Both.MissRatio)
		}
		if ram.Bytes != 48<<20 || both.Bytes != 112<<20 {
			t.Errorf("curves of %d and %d bytes: want %d and %d", ram.Bytes, both.Bytes, 48<<20, 112<<20)
		}
		if math.Abs(curve.Both.MissRatio-miss) > .03 || curve.RAM.MissRatio < curve.Both.MissRatio+.05 {
			t.Errorf("measured miss ratios of %.3f in RAM and %.3f in both: the cache has %.3f, and %+v", curve.RAM.MissRatio, curve.Both.MissRatio, miss, s)
		}
		if of := s.RAM; math.Abs(ram.Loads-miss*curve.Reads) > .01*curve.Reads || math.Abs(ram.SSDReads-float64(s.SSD.Hits-before.SSD.Hits)/200_000*curve.Reads) > .01*curve.Reads {
			t.Errorf("%.0f reads of the SSD and %.0f loads a second: measured were %.3f misses of %.0f reads, and %+v", ram.SSDReads, ram.Loads, miss, curve.Reads, of)
		}
		if p := at(t, curve.RAM, .25); p.SSDReads < ram.SSDReads || p.Loads < ram.Loads || p.Loads > p.MissRatio*curve.Reads {
			t.Errorf("a quarter of RAM brings %.0f reads of the SSD and %.0f loads, now %.0f and %.0f", p.SSDReads, p.Loads, ram.SSDReads, ram.Loads)
		}
		if p := at(t, curve.Both, .25); math.Abs(p.Loads-p.MissRatio*curve.Reads) > 1 || p.Loads < both.Loads || p.SSDReads != 0 {
			t.Errorf("a quarter of both brings %.0f loads and %.0f reads of the SSD, now %.0f", p.Loads, p.SSDReads, both.Loads)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	})
}
