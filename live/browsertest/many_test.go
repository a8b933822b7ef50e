package browsertest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/firncache/firn"
)

// many is a page about twelve caches, the last of which is closed, and the one before misses most.
func many(t *testing.T) (w *world, url string) {
	t.Helper()
	s := spec{ram: 2 << 20, work: workload{keys: 1000, requests: 20, bytes: 100}}
	for i := range 12 {
		s.names = append(s.names, fmt.Sprintf("service-%02d", i))
	}
	w, url = serve(t, s)
	must(t, w.caches[11].Close())
	w.works = w.works[:11]
	for range 8 {
		for i := range 500 {
			_, _ = w.caches[10].Get(nil, key(uint64(1<<50+i)))
		}
		must(t, w.tick(1))
	}
	return w, url
}

const listed = `[...document.querySelectorAll("#overview .cache .name b")].map(e => e.textContent).join(" ")`

// Many caches are listed the worst first, can be sorted and filtered, and the link keeps that.
func TestManyCaches(t *testing.T) {
	t.Parallel()
	w, url := many(t)
	b := open(t, url+"#service-04?min=5", view{})
	wait[bool](b, drawn(w.seq()))
	wait[bool](b, `document.querySelector('[data-cache="4"]') !== null`)
	if list := eval[string](b, listed); !strings.HasPrefix(list, "service-11 service-10 ") {
		t.Errorf("the list is %s: want the closed cache, and then the one with the most misses", list)
	}
	const change = `(e => { e.value = %q; e.dispatchEvent(new Event(%q)); return true; })(document.querySelector(%q))`
	eval[bool](b, fmt.Sprintf(change, "name", "change", ".tools select"))
	eval[bool](b, fmt.Sprintf(change, "-1", "input", ".tools input"))
	if list := eval[string](b, listed); list != "service-10 service-11" {
		t.Errorf("by name, of -1, the list is %s", list)
	}
	if count := eval[string](b, `document.querySelector(".tools span").textContent`); count != "2 of 12 caches, 1 not well" {
		t.Errorf("the count is %q", count)
	}
	hash := eval[string](b, "location.hash")
	again := open(t, url+hash, view{width: 360})
	wait[bool](again, drawn(w.seq()))
	wait[bool](again, `document.querySelector('[data-cache="4"]') !== null`)
	if list := eval[string](again, listed); list != "service-10 service-11" || eval[string](again, `document.querySelector("[name=range]:checked").value`) != "5" {
		t.Errorf("by the link %s the list is %s", hash, list)
	}
	again.want(t, "scrolls", "cut", "overlaps")
	eval[bool](again, `document.querySelector("#overview .cache").click(), true`)
	wait[bool](again, `document.querySelector('[data-cache="10"]') !== null`)
	must(t, w.tick(1)) // comes by the stream of that cache
	wait[bool](again, drawn(w.seq()))
	if values, _ := shown(again, 10); values["misses"] < 300 {
		t.Errorf("the cache that was chosen has %v misses a second, want some 400", values["misses"])
	}
}

// What changes a cache is a mark on all axes of time, misses are told by namespace, and a moment that is
// clicked at is in the link.
func TestMarksAndNamespaces(t *testing.T) {
	t.Parallel()
	w, url := serve(t, small)
	must(t, w.tick(5))
	users, err := firn.NewTyped(w.caches[0], "users", firn.TypedOptions[int, string]{})
	must(t, err)
	defer users.Close()
	must(t, w.caches[0].SetRAMBytes(6<<20))
	users.Get(1)
	must(t, w.tick(1))
	b := open(t, url, view{})
	wait[bool](b, drawn(w.seq()))
	if marks := eval[string](b, `[...document.querySelectorAll('[data-chart="hits"] .change title')].map(e => e.textContent).join()`); !strings.Contains(marks, "RAM of 6.0 MiB") {
		t.Errorf("the marks are %q", marks)
	}
	if text := eval[string](b, `document.querySelector('[data-chart="namespaces"]').innerText`); !strings.Contains(text, "users") {
		t.Errorf("misses by namespace are %q", text)
	}
	eval[bool](b, `(e => { const r = e.getBoundingClientRect(); return e.dispatchEvent(new PointerEvent("pointerdown", {clientX: r.right - 30, clientY: r.top + 20, bubbles: true})); })(document.querySelector('[data-chart="hits"] .plot'))`)
	if hash := eval[string](b, "location.hash"); !strings.Contains(hash, "at=") {
		t.Errorf("the link is %q: want the moment in it", hash)
	}
}
