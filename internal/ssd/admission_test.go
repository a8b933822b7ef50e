package ssd

import (
	"math/rand/v2"
	"testing"

	"github.com/firncache/firn/internal/invariants"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// AdmitSeen takes all until the log has been full, and selects then: after
// Clear, and after a restart, as the log is.
func TestAdmitSeenFillsTheLog(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, mem := newWorld(t, 1), vfstest.NewMem()
		config := func() Config {
			cfg := testConfig(mem, w)
			cfg.Admission = AdmitSeen
			return cfg
		}
		w.reopen(t, config())
		next := 0
		// offer offers a record that nobody read, and reports whether it was let in.
		offer := func(i int) bool {
			key := w.key(i)
			for h := w.hasher.Hash(key); ; w.roomy() {
				before := w.tier.Stats()
				switch taken := w.tier.Demote(h, key, make([]byte, 1000), 0, false, SameCopy); {
				case taken:
					return true
				case w.tier.Stats().Rejected > before.Rejected:
					return false
				case !before.Online:
					t.Fatal("the tier is off")
				}
			}
		}
		fill := func(why string) {
			t.Helper()
			choosing := w.tier.admission.selective.Load
			for ; !choosing(); next++ {
				if !offer(next) && !choosing() {
					t.Fatalf("%s: record %d was refused, and the log has not been full", why, next)
				}
			}
			if n := int64(w.tier.Len()) * 1000; n < w.tier.logBytes*3/4 {
				t.Fatalf("%s: records were chosen when %d bytes lay in a log of %d", why, n, w.tier.logBytes)
			}
		}
		selects := func(why string) {
			t.Helper()
			if next++; offer(next) {
				t.Fatalf("%s: a record that nobody asked for was let in", why)
			}
			if !offer(next) {
				t.Fatalf("%s: a record that was offered twice was refused", why)
			}
		}

		for range 100 {
			offer(next)
			next++
		}
		w.restart(t, config())
		fill("a log that was not full when it was closed")
		selects("a full log")
		w.restart(t, config())
		selects("a log that was full when it was closed")
		w.written()
		mem = w.end(t, mem, killed)
		w.reopen(t, config())
		selects("a log that was full when the process died")
		w.tier.Clear()
		fill("after Clear")
		selects("after Clear and filling it")
		w.close(t)
	})
}

// The sketch knows what it was told within its last capacity, and hardly
// anything else.
func TestSketch(t *testing.T) {
	var s sketch
	s.init(64 << 10)
	rng := rand.New(rand.NewPCG(1, 1))
	hashes := make([]uint64, s.mask/8)
	wrong := 0
	for i := range hashes {
		if hashes[i] = rng.Uint64(); s.add(hashes[i]) {
			wrong++
		}
	}
	if wrong > len(hashes)/10 {
		t.Errorf("%d of %d new hashes were known", wrong, len(hashes))
	}
	for _, h := range hashes {
		if !s.add(h) {
			t.Fatalf("%x was added and is not known", h)
		}
	}
}

// While the budget is short, AdmitSeen prefers what was read or offered before.
func TestAdmitSeenPrefersWhileTheBudgetIsShort(t *testing.T) {
	t.Parallel()
	const budget = 1 << 30
	size := 4096
	if invariants.Race { // one goroutine: fewer, larger records
		size = 32 << 10
	}
	now := int64(dayMillis)
	var a admission
	a.init(&Config{Memory: 64 << 20, WriteBudget: budget}, func() int64 { return now })
	var got, of [3]int // new, offered before, read
	offer := func(kind int, hash uint64, read bool) {
		of[kind]++
		if a.admit(mix(hash), size, read) {
			got[kind]++
			a.budget.wrote(size)
		}
	}
	// Ten times the budget: a tenth of a tenth comes twice, and as much was read.
	for i := uint64(0); now < 3*dayMillis; i++ {
		now += dayMillis / (10 * budget / int64(size))
		offer(0, i, false)
		if i%100 == 0 {
			offer(1, i-min(i, 1000), false)
			offer(2, i, true)
		}
	}
	if share := float64(got[0]) / float64(of[0]); share > .2 || share < .05 {
		t.Errorf("%.3f of what was new was let in", share)
	}
	for kind, what := range []string{1: "offered before", 2: "read"} {
		if kind > 0 && got[kind] < of[kind]*98/100 {
			t.Errorf("%d of %d that were %s were let in", got[kind], of[kind], what)
		}
	}
}
