package admission

import (
	"math/rand/v2"
	"testing"

	"github.com/firncache/firn/internal/invariants"
	"github.com/firncache/firn/internal/record"
)

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
	var a Admission
	a.Init(Seen, 64<<20, budget, func() int64 { return now })
	var got, of [3]int // new, offered before, read
	offer := func(kind int, hash uint64, read bool) {
		of[kind]++
		if a.Admit(record.Scramble(hash), size, read) {
			got[kind]++
			a.Budget.Wrote(size)
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
