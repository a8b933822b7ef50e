package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/firncache/firn/bench/hitratio"
	"github.com/firncache/firn/bench/rivals"
	"github.com/firncache/firn/bench/samples"
)

// hitShares are the cache sizes, in percent of a trace's working set.
var hitShares = []float64{0.1, 1, 5, 10, 20}

// hitLimit is how many requests of each trace are replayed: the first, so that
// the whole set ends within minutes.
func (j job) hitLimit() int {
	if j.Small {
		return 20_000
	}
	return 1_000_000
}

func hitWeight(j job) float64 {
	perRequest := 0.2e-6
	if slices.Contains([]string{"otter", "theine", "ristretto"}, j.Rival) {
		perRequest = 2e-6
	}
	return float64(len(hitShares)*j.hitLimit()) * perRequest
}

func hitRivals() []string {
	return slices.DeleteFunc(hitratio.Names(), func(name string) bool { return name == rivals.Firn })
}

// hitJobs is a job for each trace and policy.
func hitJobs(o options, taking []string, add func(job)) error {
	traces, err := hitratio.Find(os.Getenv("FIRN_TRACES"))
	if err != nil {
		return err
	}
	if o.Small {
		traces = traces[:min(len(traces), 4)]
	}
	for _, trace := range traces {
		for _, policy := range append([]string{rivals.Firn}, taking...) {
			add(job{Kind: "hitratio", Rival: policy, Param: trace})
		}
	}
	return nil
}

// runHitRatio replays one trace through one policy, at all sizes.
func runHitRatio(j job, out *emitter) error {
	policy, err := hitratio.Lookup(j.Rival)
	if err != nil {
		return err
	}
	trace, err := hitratio.Load(j.Param, j.hitLimit())
	if err != nil {
		return err
	}
	results := make([][]samples.Sample, len(hitShares))
	errs := make([]error, len(hitShares))
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	var done sync.WaitGroup
	for i, share := range hitShares {
		done.Go(func() {
			slots <- struct{}{}
			results[i], errs[i] = j.hitCell(policy, trace, share)
			<-slots
		})
	}
	done.Wait()
	var all []samples.Sample
	for i := range results {
		if errs[i] != nil {
			return errs[i]
		}
		all = append(all, results[i]...)
	}
	out.emit(all...)
	return nil
}

// hitCell is one size; it is empty where the policy or the size cannot take
// part.
func (j job) hitCell(policy hitratio.Policy, trace *hitratio.Trace, share float64) ([]samples.Sample, error) {
	misses, refused, ok, err := policy.Ratio(trace, int64(share/100*float64(trace.WorkingSet())))
	if err != nil || !ok {
		return nil, err
	}
	n := len(trace.Requests)
	hit := float64(n-misses) / float64(n)
	s := samples.Sample{
		Suite: j.Suite, Name: fmt.Sprintf("hit-ratio/trace=%s/size=%g", trace.Name, share), Cache: j.Rival,
		Ops: int64(n), Value: 100 * hit, Unit: "%", Hit: &hit, Misses: int64(misses), Refused: refused,
	}
	if trace.Sized {
		s.Note = sizedNote
	}
	return []samples.Sample{s}, nil
}

const sizedNote = "values of different sizes"

// hitMeans adds each policy's mean miss ratio over the cells that every policy
// has, and names those left out.
func hitMeans(all []samples.Sample) (more []samples.Sample, notes []string) {
	cells := make(map[string]map[string]float64) // misses by cell and policy
	var order, policies []string
	for _, s := range all {
		if cells[s.Name] == nil {
			cells[s.Name] = make(map[string]float64)
			order = append(order, s.Name)
		}
		cells[s.Name][s.Cache] = 100 - s.Value
		if !slices.Contains(policies, s.Cache) {
			policies = append(policies, s.Cache)
		}
	}
	sums, counted := make(map[string]float64), 0
	for _, name := range order {
		if len(cells[name]) < len(policies) || strings.Contains(name, "_irm") { // a model without locality, not a trace
			continue
		}
		counted++
		for policy, misses := range cells[name] {
			sums[policy] += misses
		}
	}
	for _, policy := range policies {
		if counted > 0 {
			more = append(more, samples.Sample{
				Suite: "hitratio", Name: "mean-miss-ratio", Cache: policy, Ops: int64(counted), Value: sums[policy] / float64(counted), Unit: "%",
				Note: strconv.Itoa(counted) + " cells",
			})
		}
	}
	return more, []string{
		"Each trace is replayed up to its first million requests (20,000 in a small run); the working set is that of these.",
		fmt.Sprintf("Values whose size a trace does not tell have %d bytes, keys 16. Caches below %d KiB are left out: firn's smallest has that size.", hitratio.DefaultSize, hitratio.Smallest>>10),
		"2Q, ARC, FIFO and Belady are defined for entries of one size and are left out where sizes differ. The means are over the cells that all policies have.",
	}
}
