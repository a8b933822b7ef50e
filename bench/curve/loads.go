package curve

import (
	"math"
	"math/rand/v2"

	"github.com/firncache/firn/bench/hitratio"
)

// A Load makes requests of one trace, or of two.
type Load struct {
	Name   string
	Traces int // of which it is made
	make   func(a, b *hitratio.Trace) *hitratio.Trace
}

// Loads lists them: the first is steady, the others change.
var Loads = []Load{
	{"steady", 1, func(a, _ *hitratio.Trace) *hitratio.Trace { return a }},
	{"then", 2, func(a, b *hitratio.Trace) *hitratio.Trace { // the one, and then the other
		n := shorter(a, b)
		return mixed(a, b, func(at int) bool { return at >= n })
	}},
	{"day", 2, func(a, b *hitratio.Trace) *hitratio.Trace { // the other comes as the one goes, and back, twice
		n, rng := float64(shorter(a, b)), rand.New(rand.NewPCG(7, 7))
		return mixed(a, b, func(at int) bool { return math.Cos(2*math.Pi*float64(at)/n) < 2*rng.Float64()-1 })
	}},
	{"scan", 1, func(a, _ *hitratio.Trace) *hitratio.Trace { // each second request of the later half is of a new key
		t := newLoad(a)
		for at, key := range a.Requests {
			if at >= len(a.Requests)/2 && at%2 == 0 {
				t.request(1, int32(at), a.Sizes[key])
				continue
			}
			t.request(0, key, a.Sizes[key])
		}
		return t.Trace
	}},
	{"deploy", 1, func(a, _ *hitratio.Trace) *hitratio.Trace { // at half, all keys have other names
		t := newLoad(a)
		for at, key := range a.Requests {
			t.request(2*at/len(a.Requests), key, a.Sizes[key])
		}
		return t.Trace
	}},
}

// Of is the load of a trace, and of the one after it.
func (l Load) Of(a, b *hitratio.Trace) *hitratio.Trace { return l.make(a, b) }

func shorter(a, b *hitratio.Trace) int { return min(len(a.Requests), len(b.Requests)) }

// mixed is as many requests of both as the shorter one has, of b where second says so.
func mixed(a, b *hitratio.Trace, second func(at int) bool) *hitratio.Trace {
	t, of, next := newLoad(a), [...]*hitratio.Trace{a, b}, [2]int{}
	for at := range 2 * shorter(a, b) {
		which := 0
		if second(at) {
			which = 1
		}
		key := of[which].Requests[next[which]%len(of[which].Requests)]
		next[which]++
		t.request(which, key, of[which].Sizes[key])
	}
	return t.Trace
}

// load is a trace in the making: its keys are numbered by their first request.
type load struct {
	*hitratio.Trace
	numbers map[[2]int32]int32
}

func newLoad(of *hitratio.Trace) load {
	return load{&hitratio.Trace{Name: of.Name, Sized: of.Sized}, map[[2]int32]int32{}}
}

// request adds one for a key of one of the sources.
func (l load) request(source int, key, size int32) {
	name := [2]int32{int32(source), key}
	number, ok := l.numbers[name]
	if !ok {
		number = int32(len(l.Sizes))
		l.numbers[name] = number
		l.Sizes = append(l.Sizes, size)
	}
	l.Requests = append(l.Requests, number)
}
