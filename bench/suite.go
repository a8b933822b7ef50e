package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firncache/firn/bench/cases"
	"github.com/firncache/firn/bench/rivals"
	"github.com/firncache/firn/bench/samples"
)

// matrixRivals are the rivals that play all cells; the others play four, so
// that the whole set ends in time for lunch.
var matrixRivals = []string{"fastcache", "otter", "xsync"}

// A suite is a set of jobs that answer one question.
type suite struct {
	name   string
	rivals func() []string // what takes part beside firn
	jobs   func(o options, rivals []string, add func(job)) error
	finish func([]samples.Sample) (more []samples.Sample, notes []string) // figures over all jobs; nil: none
	clean  func(options) error                                            // removes what jobs left on the disk; nil: nothing
	needs  func() error                                                   // why it cannot run here; nil: it always can
	room   func(options) error                                            // why the disk is too small; nil: it needs none
}

// suites are in the order in which "all" runs them.
var suites = []suite{
	{"users", usersRivals, usersJobs, nil, nil, nil, nil},
	{"classic", rivals.Names, classicJobs, nil, nil, nil, nil},
	{"ram", rivals.Names, ramJobs, nil, nil, nil, nil},
	{"large", holdsAnySize, largeJobs, nil, nil, nil, nil},
	{"memory", rivals.Names, memoryJobs, nil, nil, nil, nil},
	{"gc", gcRivals, gcJobs, nil, nil, nil, nil},
	{"hitratio", hitRivals, hitJobs, hitMeans, nil, nil, nil},
	{"curve", none, curveJobs, curveTargets, nil, nil, nil},
	{"hybrid", hybridRivals, hybridJobs, hybridNotes, hybridClean, nil, hybridDisk},
	{"shared", sharedRivals, sharedJobs, nil, nil, sharedServer, nil},
	{"bufpool", all("pools"), streamsJobs, nil, nil, nil, nil},
	{"casestudies", cases.Names, caseJobs, nil, nil, nil, nil},
}

// suiteNames lists the suites in the order in which "all" runs them.
var suiteNames = func() []string {
	var names []string
	for _, s := range suites {
		names = append(names, s.name)
	}
	return names
}()

// Options are what the command line asks for.
type options struct {
	Suites  []string
	Rivals  []string // as asked for; empty: all
	Entries int
	Repeats int
	Out     string // directory for the results
	Small   bool   // only to see that everything works
}

// What the suite "quick" asks for: everything, so small that it takes half a
// minute of processor time.
const (
	quickEntries = 5_000
	quickRepeats = 1
)

// newOptions checks the names. No rivals means all of them.
func newOptions(name, rivalList, out string, entries, repeats int) (options, error) {
	o := options{Suites: []string{name}, Out: out, Entries: entries, Repeats: repeats}
	switch {
	case name == "quick":
		o.Suites, o.Entries, o.Repeats = possible(), min(entries, quickEntries), min(repeats, quickRepeats)
	case name == "all":
		o.Suites = possible()
	case !slices.Contains(suiteNames, name):
		return o, fmt.Errorf("-suite %q: expected %s, quick or all", name, strings.Join(suiteNames, ", "))
	}
	o.Small = o.Entries < 1_000_000
	if rivalList != "" {
		o.Rivals = strings.Split(rivalList, ",")
	}
	if err := o.checkRivals(); err != nil {
		return o, err
	}
	return o, positive(map[string]int{"n": entries, "repeats": repeats})
}

// possible lists the suites that can run here.
func possible() (names []string) {
	for _, s := range suites {
		if s.needs == nil || s.needs() == nil {
			names = append(names, s.name)
		}
	}
	return names
}

// checkRivals wants each rival to be known to one of the suites at least.
func (o options) checkRivals() error {
	var known []string
	for _, name := range o.Suites {
		known = append(known, find(name).rivals()...)
	}
	slices.Sort(known)
	known = slices.Compact(known)
	for _, name := range o.Rivals {
		if name == rivals.Firn {
			return fmt.Errorf("-rivals: firn always takes part; expected the others, of %s", strings.Join(known, ", "))
		}
		if !slices.Contains(known, name) {
			return fmt.Errorf("-rivals: rival %q: expected one of %s", name, strings.Join(known, ", "))
		}
	}
	return nil
}

// find returns the suite of that name, which must exist.
func find(name string) suite {
	return suites[slices.IndexFunc(suites, func(s suite) bool { return s.name == name })]
}

// taking lists the rivals that take part in a suite: those asked for, or all
// where none of them belongs to it.
func (o options) taking(s suite) []string {
	known := s.rivals()
	var taking []string
	for _, name := range o.Rivals {
		if slices.Contains(known, name) {
			taking = append(taking, name)
		}
	}
	if len(taking) == 0 {
		return known
	}
	return taking
}

// jobs lists what one suite runs, in order.
func (o options) jobs(name string) ([]job, error) {
	var jobs []job
	s := find(name)
	err := s.jobs(o, o.taking(s), func(j job) {
		j.Suite, j.Repeats, j.Small = name, o.Repeats, o.Small
		if j.Entries == 0 {
			j.Entries = o.Entries
		}
		if j.ValueSize == 0 {
			j.ValueSize = 64
		}
		if j.Cells == "" {
			j.Cells = allCells
		}
		jobs = append(jobs, j)
	})
	return jobs, err
}

// check returns why the suite cannot run here with these options, or nil.
func (s suite) check(o options) error {
	if s.needs != nil {
		if err := s.needs(); err != nil {
			return err
		}
	}
	if s.room == nil {
		return nil
	}
	return s.room(o)
}

// checkMemory returns an error if a job needs more memory than is free.
// Optional jobs that do not fit are taken out, with a note for each.
func checkMemory(jobs []job) (fit []job, notes []string, err error) {
	free := samples.FreeMemory()
	for _, j := range jobs {
		need := j.memoryNeeded()
		if free == 0 || need <= free { // 0: the system does not tell
			fit = append(fit, j)
			continue
		}
		what := fmt.Sprintf("suite %s, %s of %s with %d entries: %.1f GiB of memory needed, %.1f GiB free", j.Suite, j.Kind, j.Rival, j.Entries, gib(need), gib(free))
		if !j.optional() {
			return nil, nil, fmt.Errorf("%s: give a smaller -n", what)
		}
		notes = append(notes, "Left out: "+what+".")
	}
	return fit, notes, nil
}

// optional jobs are left out where memory is short.
func (j job) optional() bool { return j.Kind == "pair" && j.Cells == growthCells }

func gib(bytes int64) float64 { return float64(bytes) / (1 << 30) }

func classicJobs(_ options, taking []string, add func(job)) error {
	for _, r := range taking {
		add(job{Kind: "classic", Rival: r, ValueSize: 4})
	}
	for _, r := range taking {
		if rival, _ := rivals.Find(r); !rival.Fixed && slices.Contains(bigRivals, r) {
			add(job{Kind: "big", Rival: r})
		}
	}
	return nil
}

func ramJobs(o options, taking []string, add func(job)) error {
	for _, r := range taking {
		cells := fewCells
		if slices.Contains(matrixRivals, r) {
			cells = allCells
		}
		add(job{Kind: "pair", Rival: r, Cells: cells})
	}
	for _, n := range []int{o.Entries / 100, o.Entries / 10, o.Entries * 5} {
		for _, r := range taking {
			if slices.Contains(matrixRivals, r) {
				add(job{Kind: "pair", Rival: r, Cells: growthCells, Entries: max(n, 1)})
			}
		}
	}
	return nil
}

// holdsAnySize lists the rivals whose values may have any size.
func holdsAnySize() []string {
	return slices.DeleteFunc(rivals.Names(), func(name string) bool {
		r, err := rivals.Find(name)
		return err != nil || r.Fixed
	})
}

func largeJobs(o options, taking []string, add func(job)) error {
	for _, r := range taking {
		cells := fewCells
		if r == "fastcache" {
			cells = allCells
		}
		add(job{Kind: "pair", Rival: r, Entries: max(o.Entries/10, 1), ValueSize: 1024, Cells: cells})
	}
	for _, r := range append([]string{rivals.Firn}, taking...) {
		add(job{Kind: "values", Rival: r})
	}
	return nil
}

func memoryJobs(_ options, taking []string, add func(job)) error {
	for _, r := range append([]string{rivals.Firn}, taking...) {
		add(job{Kind: "memory", Rival: r})
		add(job{Kind: "churn", Rival: r})
	}
	return nil
}
