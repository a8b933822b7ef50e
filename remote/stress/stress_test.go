//go:build linux

package stress

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/firncache/firn/remote/internal/servertest"
)

var (
	reads  = flag.Int64("reads", 400_000, "how many reads are checked, at least")
	rounds = flag.Int64("per-round", 30_000, "how many reads a round has, at least")
	seed   = flag.Uint64("seed", 1, "of the random numbers; 0: one of the clock")
	only   = flag.String("fault", "", "the only fault, by its name")
)

// TestMain runs the tests, or is one of the processes that they start.
func TestMain(m *testing.M) {
	if text := os.Getenv(settingVar); text != "" {
		if err := runProcess(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// field is where it happens.
type field struct {
	t        *testing.T
	server   *servertest.Server
	told     *told
	children []*child
	checker  *checker
	truth    *truth
	rng      *rand.Rand
	bound    time.Duration
	perRound int64
	running  command
	lost     []record // losses of this round
}

// A read finds nothing that is older than what the server had the bound ago, whatever happens
// to the network, the server and the processes; a process never finds an older value after a
// newer one; and when all is over, all have what the server has.
func TestBoundOverFaults(t *testing.T) {
	f := newField(t)
	began := time.Now()
	for n := 0; n == 0 || n < len(faults) && *only == "" || f.checker.reads < *reads; n++ {
		fault := faults[n%len(faults)]
		if *only != "" {
			fault = named(t, *only)
		}
		f.round(n, fault)
		if len(f.checker.violations)+len(f.truth.violations) > 0 {
			break
		}
	}
	f.report(time.Since(began))
	for _, c := range f.children {
		c.end(t)
	}
}

func newField(t *testing.T) *field {
	s := *seed
	if s == 0 {
		s = uint64(time.Now().UnixNano())
	}
	t.Logf("-seed %d", s)
	const timeout = 200 * time.Millisecond
	f := &field{t: t, told: newTold(), rng: rand.New(rand.NewPCG(s, 15)), bound: 400 * time.Millisecond, perRound: *rounds}
	f.checker = newChecker(int64(f.bound))
	f.server = servertest.Start(t, servertest.Options{Config: []string{"appendonly yes", "appendfsync no"}})
	f.truth = newTruth(t, f.server)
	dir := t.TempDir()
	for p := range uint8(processes) {
		f.children = append(f.children, newChild(t, f.told, p, f.server.Addr, dir, f.bound, timeout))
	}
	return f
}

func named(t *testing.T, name string) fault {
	for _, f := range slices.Concat(faults, beyond) {
		if f.name == name {
			return f
		}
	}
	t.Fatalf("-fault %q: want one of those in faults_test.go", name)
	return fault{}
}

// round has the processes work while a fault happens, and judges what they tell.
func (f *field) round(n int, fault fault) {
	before := f.checker.reads
	f.lost = nil
	f.running = command{Do: "run", Seed: f.rng.Uint64(), Round: n, Loses: fault.loses}
	f.tellAll(f.running)
	f.awaitReads(f.perRound / 3)
	fault.do(f)
	f.awaitReads(f.perRound / 3)
	f.allDo(command{Do: "stop"})
	records := f.records()
	f.checker.round(records)
	f.truth.round(records, int64(f.bound))
	f.allDo(command{Do: "quiet"})
	f.allDo(command{Do: "settle", At: now() + int64(f.bound)})
	f.checker.settled(f.records())
	f.t.Logf("round %d, %s: %d reads", n, fault.name, f.checker.reads-before)
}

func (f *field) tellAll(c command) {
	for _, child := range f.children {
		child.tell(f.t, c)
	}
}

// allDo returns when all processes have done it.
func (f *field) allDo(c command) {
	f.tellAll(c)
	for _, child := range f.children {
		child.awaitDone(f.t)
	}
}

// awaitReads waits until the processes have told of so many reads more.
func (f *field) awaitReads(n int64) {
	f.t.Helper()
	f.told.await(f.t, n)
}

func (f *field) records() (all []record) {
	for _, c := range f.children {
		all = append(all, c.taken()...)
	}
	return append(all, f.lost...)
}

func (f *field) report(took time.Duration) {
	c := f.checker
	f.t.Logf("%d reads checked, %.0f a second; %d found nothing, %d writes acknowledged, %d failed",
		c.reads, float64(c.reads)/took.Seconds(), c.misses, c.writes, c.failed)
	text := ""
	for i, name := range figureNames {
		n := int64(0)
		for _, child := range f.children {
			n += child.figures[i] + child.earlier[i]
		}
		text += fmt.Sprintf(" %s: %d;", name, n)
	}
	f.t.Log(text)
	f.t.Logf("%d reads compared with what the server had, %d not, as it was not known", f.truth.judged, f.truth.unjudged)
	if f.truth.looks && f.truth.judged < f.truth.unjudged {
		f.t.Error("more reads were not compared than were: want MONITOR followed nearly always")
	}
	for _, v := range slices.Concat(c.violations[:min(len(c.violations), most)], f.truth.violations[:min(len(f.truth.violations), most)]) {
		f.t.Error(v)
	}
	if len(c.violations) > most {
		f.t.Errorf("%d violations in all", len(c.violations))
	}
}
