package harness

import (
	"fmt"
	"math"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/ssd"
	"github.com/firncache/firn/internal/store"
	"github.com/firncache/firn/internal/testseam"
	"github.com/firncache/firn/internal/vfs"
)

// seam is what a test gives the SSD tier. It travels in SSDOptions.Dir as a name
// of its own, and is forgotten with the last copy of that name.
type seam struct {
	dir    string // the true one
	fs     vfs.FS
	change func(*ssd.Config)
}

var seams struct {
	sync.Mutex
	last int
	byID map[int]seam
}

const seamPrefix = "\x00a seam of tests, number "

// On makes the SSD tier use a file system instead of a directory.
func On(o firn.SSDOptions, fs vfs.FS) firn.SSDOptions {
	return seamed(o, func(s *seam) { s.fs = fs })
}

// With changes what the SSD tier is opened with.
func With(o firn.SSDOptions, change func(*ssd.Config)) firn.SSDOptions {
	return seamed(o, func(s *seam) { s.change = change })
}

// seamed is o with a seam of its own, made from the one that it has.
func seamed(o firn.SSDOptions, change func(*seam)) firn.SSDOptions {
	s := seamOf(o.Dir)
	change(&s)
	if s.fs == nil && s.dir == "" {
		return o // there is no SSD tier
	}
	seams.Lock()
	defer seams.Unlock()
	if seams.byID == nil {
		seams.byID = map[int]seam{}
	}
	seams.last++
	seams.byID[seams.last] = s
	o.Dir = fmt.Sprint(seamPrefix, seams.last)
	runtime.AddCleanup(unsafe.StringData(o.Dir), func(id int) {
		seams.Lock()
		defer seams.Unlock()
		delete(seams.byID, id)
	}, seams.last)
	return o
}

// seamOf is the seam of a name, or that of an ordinary directory.
func seamOf(dir string) seam {
	number, ok := strings.CutPrefix(dir, seamPrefix)
	if !ok {
		return seam{dir: dir}
	}
	id, _ := strconv.Atoi(number)
	seams.Lock()
	defer seams.Unlock()
	s := seams.byID[id]
	runtime.KeepAlive(dir)
	return s
}

func init() {
	testseam.Adjust = func(cfg *store.Config) {
		s := seamOf(cfg.Dir)
		cfg.Dir, cfg.FS, cfg.Adjust = s.dir, s.fs, s.change
		cfg.Simulation.Processor = math.MaxInt32 // so that no sample becomes smaller beside other work
	}
}

// HybridOn opens a cache over a file system; its user closes it.
func HybridOn(t testing.TB, fs vfs.FS) *firn.Cache {
	t.Helper()
	c, err := firn.Open(HybridOptions(fs))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// HybridOptions have a clock, as a cache in a bubble needs.
func HybridOptions(fs vfs.FS) firn.Options {
	return firn.Options{RAMBytes: 1 << 20, Clock: time.Now, SSD: With(On(firn.SSDOptions{Bytes: 16 << 20, Admission: firn.AdmitAll}, fs), Patiently)}
}

// Patiently makes writes wait for a disk that is behind for as long as it takes:
// on a busy machine it may be for longer than they wait otherwise, and what leaves
// RAM then is dropped. It is for tests in which all that was set has to be found.
func Patiently(c *ssd.Config) { c.MaxWriteStall, c.StallTimeout = time.Minute, time.Minute }

// Numbered is the entry number i.
func Numbered(i int) (key, value []byte) {
	return fmt.Appendf(nil, "key-%06d", i), fmt.Appendf(nil, "value of %d, %0300d", i, i)
}

// CountMissing looks for the first n numbered entries, one by one and in batches.
func CountMissing(t *testing.T, c *firn.Cache, n int) (missing int) {
	t.Helper()
	check := func(i int, v []byte, ok bool) {
		t.Helper()
		if key, want := Numbered(i); !ok {
			missing++
		} else if string(v) != string(want) {
			t.Fatalf("%s: %s", key, v)
		}
	}
	for i := range n {
		key, _ := Numbered(i)
		v, ok := c.Get(nil, key)
		check(i, v, ok)
	}
	var b firn.Batch
	alone := missing
	for i := 0; i < n; i += 50 {
		keys := make([][]byte, 50)
		for k := range keys {
			keys[k], _ = Numbered(i + k)
		}
		_ = c.GetMulti(t.Context(), &b, keys)
		for k := range keys {
			v, ok := b.Value(k)
			check(i+k, v, ok)
		}
	}
	return max(alone, missing-alone)
}

// AllCauses are those of a cache with an SSD tier.
var AllCauses = []firn.Cause{firn.CauseCapacity, firn.CauseExpired, firn.CauseReplaced, firn.CauseDeleted, firn.CauseDemoted, firn.CauseSSDEvicted}
