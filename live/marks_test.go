package live

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/inside"
	"github.com/firncache/firn/stats"
)

// A change of a cache is a mark on its axes of time; changes of one kind that follow each other
// closely are one; a mark goes with the history that it belongs to.
func TestMarks(t *testing.T) {
	var from, to snapshot
	from.stats.RAM.Bytes = 64 << 20
	from.at = time.UnixMilli(0)
	to = from
	var m marks
	step := func(seconds int, change func()) {
		from = to
		to.at = from.at.Add(time.Duration(seconds) * time.Second)
		change()
		m.add(&from, &to)
	}
	settings := []inside.Setting{{Name: "small 5 %"}, {Name: "small 20 %"}}
	step(60, func() { to.inside.Policy.Settings, to.inside.Health.SSD = settings, inside.Online })
	step(60, func() { to.inside.Policy.Current = 1 })
	step(60, func() { to.stats.RAM.Bytes = 70 << 20 })
	step(1, func() { to.stats.RAM.Bytes = 128 << 20 })
	step(60, func() { to.inside.Health.SSD = inside.Offline })
	step(60, func() { to.stats.Cleared++ })
	step(60, func() {})
	want := "60 SSD online, 60 small 5 %, 120 small 20 %, 181 128 MiB, 241 SSD offline, 301 Clear"
	var list []string
	for _, one := range m {
		list = append(list, fmt.Sprint(one.Time/1000, " ", strings.NewReplacer("entries are chosen by ", "", "“", "", "”", "", "RAM of ", "").Replace(one.What)))
	}
	if got := strings.Join(list, ", "); got != want {
		t.Errorf("the marks are %s, want %s", got, want)
	}
	if step(kept-160, func() {}); len(m) != 2 {
		t.Errorf("%d marks are left, want two: the history is of %d s", len(m), kept)
	}
}

// thirty is a page about thirty caches, one of them with many namespaces.
func thirty(t *testing.T) http.Handler {
	var o Options
	for i := range 30 {
		o.Caches = append(o.Caches, Named{Name: fmt.Sprintf("service-%02d/objects", i), Cache: open(t)})
	}
	for i := range 40 {
		typed, err := firn.NewTyped(o.Caches[3].Cache, fmt.Sprintf("namespace of objects %02d", i), firn.TypedOptions[int, string]{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = typed.Close() })
		for range i {
			typed.Get(1)
		}
	}
	return New(o)
}

// A viewer gets the headline of each cache, and all of the one that it looks at: of thirty caches at
// most 20 KB a second.
func TestThirtyCaches(t *testing.T) {
	h := thirty(t)
	at, c := time.Now(), h.(*page).collector
	sum, frames := 0, 20
	for range frames {
		at = at.Add(time.Second)
		inside.Collect(h, at)
		sum += len(c.last.Load().events[c.shown("service-03/objects")]())
	}
	t.Logf("%d bytes a second", sum/frames)
	if sum/frames > 20_000 {
		t.Errorf("%d bytes a second, want at most 20,000", sum/frames)
	}
	e := decode[told](t, after(t, string(c.last.Load().events[3]()), "data: "))
	if e.Shown != 3 || len(e.Caches) != 30 || len(e.Caches[3].Now) != len(series) || len(e.Caches[4].Now) != headlines || e.Caches[4].Stats != nil {
		t.Errorf("cache %d is shown of %d, with %d figures, another with %d", e.Shown, len(e.Caches), len(e.Caches[3].Now), len(e.Caches[4].Now))
	}
	if n := c.shown("none of them"); n != 0 {
		t.Errorf("cache %d is shown for a name that there is not, want the first", n)
	}
}

// Misses are told by namespace: those with the most of them.
func TestNamespaces(t *testing.T) {
	h := thirty(t)
	inside.Collect(h, time.Now().Add(time.Second))
	e := decode[told](t, after(t, string(h.(*page).collector.last.Load().events[3]()), "data: "))
	if n := len(e.Caches[3].Namespaces); n != 0 {
		t.Errorf("%d namespaces have misses in a time without: want none", n)
	}
	i := interval{from: &snapshot{}, to: &snapshot{spaces: map[string]stats.Namespace{}}, seconds: 2}
	for k := range 40 {
		i.to.spaces[fmt.Sprint(k)] = stats.Namespace{Hits: 10, Misses: uint64(k)}
	}
	all := i.namespaces()
	if len(all) != mostNamespaces || all["39"] != (namespace{24.5, 19.5}) || all["27"] != (namespace{}) {
		t.Errorf("%v", all)
	}
}

// What twice the RAM would bring takes two words, and is nothing where it is not known.
func TestTwice(t *testing.T) {
	points := func(now, more, err float64, state stats.CurveState) []stats.CurvePoint {
		return []stats.CurvePoint{{Factor: 1, MissRatio: now}, {Factor: 2, MissRatio: more, Error: err, State: state}}
	}
	for want, list := range map[string][]stats.CurvePoint{
		"": points(.5, .1, .01, stats.CurveFilling), "about the same": points(.5, .495, .01, stats.CurveValid), "−4.0 points": points(.5, .46, .01, stats.CurveValid),
	} {
		if got := twice(list); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// after is what follows a word in a text.
func after(t *testing.T, text, word string) string {
	t.Helper()
	_, rest, ok := strings.Cut(text, word)
	if !ok {
		t.Fatalf("no %q in %.200s", word, text)
	}
	return rest
}
