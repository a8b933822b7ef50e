package plan_test

import (
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn/internal/vfs/vfstest"

	"github.com/firncache/firn"
	"github.com/firncache/firn/cmd/firn/internal/plan"
	"github.com/firncache/firn/internal/vfs"
	"github.com/firncache/firn/internal/workload"
	"github.com/firncache/firn/stats"
)

// docs/CAPACITY.md has what these tests print with more records than the default.
var records = flag.Int("records", 10_000, "how many records the SSD tier is filled with")

// The disk is memory, and takes no time: what a cache holds does not depend on how
// fast a disk is.
func init() { vfs.Interpose(func(vfs.FS) vfs.FS { return vfstest.NewMem() }) }

const keyBytes = 16

func key(b []byte, i int) []byte {
	return binary.BigEndian.AppendUint64(append(b[:0], "entry-0-"...), uint64(i))
}

// rest lets a cache in a bubble do by itself what there is to do, now and then.
func rest(i int) {
	if i%20 == 0 {
		synctest.Wait()
	}
}

// open opens a cache that has what a question says, in a bubble.
func open(t *testing.T, q *plan.Question) *firn.Cache {
	t.Helper()
	return openMirrored(t, q, 0)
}

// openMirrored is open with a mirror.
func openMirrored(t *testing.T, q *plan.Question, every time.Duration) *firn.Cache {
	t.Helper()
	opts := firn.Options{RAMBytes: q.RAM, Clock: time.Now}
	if q.SSD > 0 {
		opts.SSD = firn.SSDOptions{Dir: t.TempDir(), Bytes: q.SSD, SegmentBytes: q.Segment, Admission: q.Admission, MirrorEvery: every}
	}
	c, err := firn.Open(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// fill stores as many entries as q has.
func fill(t *testing.T, c *firn.Cache, q *plan.Question) stats.Cache {
	t.Helper()
	value, k := make([]byte, q.Value), []byte(nil)
	for i := range int(q.Entries) {
		k = key(k, i)
		if err := c.Set(k, value); err != nil {
			t.Fatal(err)
		}
		rest(i)
	}
	return c.Stats()
}

func compute(t *testing.T, q *plan.Question) plan.Answer {
	t.Helper()
	a, err := plan.Compute(q)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// near fails unless a figure of a real cache is what was predicted, but for a
// share of it.
func near(t *testing.T, what string, predicted, real, within float64) {
	t.Helper()
	if off := predicted/real - 1; !(math.Abs(off) <= within) {
		t.Errorf("%s: predicted %.6g, the cache has %.6g: %+.2f %%, want at most %.1f %%", what, predicted, real, 100*off, 100*within)
	}
}

// bubble runs a subtest beside others in a bubble of time.
func bubble(t *testing.T, name string, test func(t *testing.T)) {
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, test)
	})
}

// A RAM tier holds what is predicted.
func TestRAM(t *testing.T) {
	for _, ram := range []int64{4 << 20, 16 << 20} {
		for _, value := range []int64{100, 256, 1024, 4096, 65536} {
			bubble(t, fmt.Sprintf("%d/%d", ram>>20, value), func(t *testing.T) {
				q := plan.Question{Key: keyBytes, Value: value, RAM: ram, Entries: 13 * ram / 10 / (keyBytes + value), Popularity: plan.Popularity{Zipf: 1}}
				a, s := compute(t, &q), fill(t, open(t, &q), &q)
				t.Logf("RAM %3d MiB, values of %5d: %d records, predicted %d", ram>>20, value, s.Entries, a.RAM.Records)
				near(t, "records in RAM", float64(a.RAM.Records), float64(s.Entries), .03)
			})
		}
	}
}

// An SSD tier that is full holds what is predicted.
func TestCapacity(t *testing.T) {
	for _, value := range []int64{100, 256, 1024, 4096, 65536} {
		bubble(t, fmt.Sprint(value), func(t *testing.T) { capacity(t, value) })
	}
}

func capacity(t *testing.T, value int64) {
	n := int64(*records)
	if value > 4096 {
		n /= 20
	}
	size := n * (keyBytes + value)
	q := plan.Question{
		Key: keyBytes, Value: value, Entries: n * 14 / 10, Admission: firn.AdmitAll,
		RAM: max(size/8, 16<<20), SSD: size * 11 / 10, Popularity: plan.Popularity{Zipf: 1},
	}
	q.Entries += q.RAM / (keyBytes + value) // what does not leave RAM
	a, s := compute(t, &q), fill(t, open(t, &q), &q)
	if s.SSD.Evictions == 0 {
		t.Errorf("values of %d bytes: the SSD tier was not filled: %+v", value, s)
	}
	data := float64(s.SSD.Entries * (keyBytes + value))
	t.Logf("values of %5d bytes: %7d records in %d segments of %d KiB; a record: index %.2f bytes, with buffers %.2f; files/data %.3f, of that headers, lists and padding %.3f; predicted %d, %.2f, %.2f, %.3f",
		value, s.SSD.Entries, s.SSD.Segments, a.SSD.SegmentBytes>>10,
		perRecord(s.SSD.IndexBytes, s.SSD.Entries), perRecord(s.SSD.MemoryBytes, s.SSD.Entries),
		float64(s.SSD.Bytes)/data, float64(a.SSD.OnDisk)/float64(keyBytes+value),
		a.SSD.Records, a.SSD.IndexEach, perRecord(a.RAM.ForSSD, a.SSD.Records), a.SSD.Amplification)
	// How many segments are free just now, and whether a table is about to
	// grow by an eighth, nobody can tell.
	some := .02 + float64(a.SSD.Ahead)/float64(a.SSD.Segments)
	near(t, "segments", float64(a.SSD.Segments), float64(s.SSD.Segments), 2.5/float64(s.SSD.Segments)) // the snapshot takes the last ones when they are free
	near(t, "records on the SSD", float64(a.SSD.Records), float64(s.SSD.Entries), some)
	near(t, "index", a.SSD.IndexEach*float64(a.SSD.Records), float64(s.SSD.IndexBytes), some+.125)
	near(t, "memory of the SSD tier", float64(a.RAM.ForSSD), float64(s.SSD.MemoryBytes), .1)
	near(t, "space amplification", a.SSD.Amplification, float64(s.SSD.Bytes)/data, some)
	near(t, "records in RAM", float64(a.RAM.Records), float64(s.Entries), .04)
}

// The copies of a mirror take the index that is predicted.
func TestMirror(t *testing.T) {
	for _, value := range []int64{100, 1024, 10_240} {
		bubble(t, fmt.Sprint(value), func(t *testing.T) {
			q := plan.Question{Key: keyBytes, Value: value, RAM: 32 << 20, SSD: 128 << 20, Admission: firn.AdmitAll, Popularity: plan.Popularity{Zipf: 1}}
			q.Entries = 1
			q.Entries = compute(t, &q).RAM.Capacity * 9 / 10
			a, c := compute(t, &q), openMirrored(t, &q, time.Second)
			s := fill(t, c, &q)
			for s.SSD.Unmirrored > 0 || s.SSD.MirrorAge > 3*time.Second || s.SSD.Entries == 0 {
				time.Sleep(time.Second)
				s = c.Stats()
			}
			m := a.SSD.Mirror
			t.Logf("values of %5d bytes: %d copies, index %d bytes; predicted %d, %d: %.2f %% of RAM", value, s.SSD.Entries, s.SSD.IndexBytes, m.Copies, m.IndexBytes, 100*m.IndexShare)
			near(t, "copies", float64(m.Copies), float64(s.SSD.Entries), .01)
			near(t, "index of the copies", float64(m.IndexBytes), float64(s.SSD.IndexBytes), .2)
		})
	}
}

// Reads by Zipf's law find about what is predicted, whatever admission: a miss
// stores the entry. It tells what that writes.
func TestZipf(t *testing.T) {
	written := map[firn.Admission]float64{}
	t.Run("admission", func(t *testing.T) {
		var mu sync.Mutex
		for _, admission := range []firn.Admission{firn.AdmitAll, firn.AdmitRead, firn.AdmitSeen} {
			bubble(t, admission.String(), func(t *testing.T) {
				bytes := readByZipf(t, admission)
				mu.Lock()
				defer mu.Unlock()
				written[admission] = bytes
			})
		}
	})
	for admission, bytes := range written {
		if admission != firn.AdmitAll && bytes > written[firn.AdmitAll]/2 {
			t.Errorf("%v: %.0f bytes were written, %.0f with AdmitAll", admission, bytes, written[firn.AdmitAll])
		}
	}
}

func readByZipf(t *testing.T, admission firn.Admission) (written float64) {
	const value = 256
	n := int64(*records)
	size := n * (keyBytes + value)
	q := plan.Question{
		Entries: n, Key: keyBytes, Value: value, RAM: max(size/10, 1<<20), SSD: max(size/2, 2<<20), Admission: admission,
		Popularity: plan.Popularity{Zipf: .99},
	}
	a, c := compute(t, &q), open(t, &q)
	s, warm := zipf(t, c, &q)
	reads := float64(s.Hits + s.Misses - warm.Hits - warm.Misses)
	onSSD := float64(s.SSD.Hits-warm.SSD.Hits) / reads
	inRAM := float64(s.Hits-warm.Hits)/reads - onSSD
	written = float64(s.SSD.WrittenBytes - warm.SSD.WrittenBytes)
	t.Logf("%v: hits in RAM %.3f, on the SSD %.3f, both %.3f; bytes written for each read %.1f, set %.2f, demoted %.2f; records on the SSD %d, at half time %d; predicted %.3f, %.3f, %.3f, and %d",
		admission, inRAM, onSSD, inRAM+onSSD,
		written/reads, written/float64((s.Sets-warm.Sets)*(keyBytes+value)), written/float64(s.SSD.WriteBytes-warm.SSD.WriteBytes),
		s.SSD.Entries, warm.SSD.Entries, a.RAM.HitRatio, a.SSD.HitRatio, a.HitRatio, a.SSD.Records)
	near(t, "hit ratio of RAM", a.RAM.HitRatio, inRAM, .04)
	if admission == firn.AdmitAll {
		near(t, "hit ratio", a.HitRatio, inRAM+onSSD, .02)
		near(t, "records on the SSD", float64(a.SSD.Records), float64(s.SSD.Entries), .02+float64(a.SSD.Ahead)/float64(a.SSD.Segments))
	}
	return written
}

func perRecord(bytes, records int64) float64 { return float64(bytes) / float64(records) }

// zipf reads from a cache, ten times as often as there are entries to warm it,
// and ten times more.
func zipf(t *testing.T, c *firn.Cache, q *plan.Question) (all, warm stats.Cache) {
	t.Helper()
	ranks := workload.NewZipf(rand.NewPCG(1, 2), q.Popularity.Zipf, uint64(q.Entries))
	var k, got []byte
	value := make([]byte, q.Value)
	for i := range 20 * q.Entries {
		if i == 10*q.Entries {
			warm = c.Stats()
		}
		rest(int(i))
		k = key(k, int(ranks.Next()))
		var ok bool
		if got, ok = c.Get(got[:0], k); ok {
			continue
		}
		if err := c.Set(k, value); err != nil {
			t.Fatal(err)
		}
	}
	return c.Stats(), warm
}
