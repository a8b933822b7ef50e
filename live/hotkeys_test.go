package live

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/inside"
)

// Keys are shown where the program says how, redacted, with the name of their namespace; and sampled while
// somebody asks alone.
func TestHotKeys(t *testing.T) {
	c := open(t)
	typed, err := firn.NewTyped(c, "users", firn.TypedOptions[string, string]{HotValues: -1}) // what a front answers, RAM does not see
	if err != nil {
		t.Fatal(err)
	}
	defer typed.Close()
	if err := typed.Set("anna@example.org", "x"); err != nil {
		t.Fatal(err)
	}
	if err := c.Set([]byte("secret"), []byte("x")); err != nil {
		t.Fatal(err)
	}
	redact := func(namespace string, key []byte) string {
		if name, _, ok := strings.Cut(string(key), "@"); ok && namespace == "users" {
			return name + "@…"
		}
		return ""
	}
	h := New(Options{Caches: []Named{{Cache: c}}, HotKeys: redact})
	at := time.Now()
	second := func() {
		for range 30 {
			typed.Get("anna@example.org")
		}
		_, _ = c.Get(nil, []byte("secret"))
		at = at.Add(time.Second)
		inside.Collect(h, at)
	}
	type answer struct {
		Keys  []hotKey
		Reads int
	}
	second()
	if a := decode[answer](t, text(t, get(h, "/hotkeys.json"))); a.Reads != 0 {
		t.Errorf("%d reads were sampled before anybody asked", a.Reads)
	}
	for range 3 {
		second()
	}
	body := text(t, get(h, "/hotkeys.json?cache=cache+1"))
	a := decode[answer](t, body)
	if len(a.Keys) != 1 || a.Keys[0].Namespace != "users" || a.Keys[0].Key != "anna@…" || a.Keys[0].Share < .9 || strings.Contains(body, "secret") {
		t.Errorf("the page gets %s: want one key, redacted", body)
	}
	hot := &h.(*page).collector.hot[0]
	hot.asked = hot.asked.Add(-time.Hour)
	if second(); hot.counts != nil {
		t.Error("sampled for an hour after anybody asked")
	}
	if w := get(Handler(c), "/hotkeys.json"); w.Code != http.StatusNotFound {
		t.Errorf("without HotKeys: %d", w.Code)
	}
}

// Counts are halved with time, and are bounded.
func TestHotKeysCool(t *testing.T) {
	begin := time.Now()
	h := hotKeys{since: begin, counts: map[inside.Key]int{{Bytes: "a"}: 9, {Bytes: "b"}: 1}, reads: 10}
	h.cool(begin.Add(time.Minute))
	if len(h.counts) != 1 || h.counts[inside.Key{Bytes: "a"}] != 4 || h.reads != 4 || h.since != begin.Add(30*time.Second) {
		t.Errorf("%v of %d", h.counts, h.reads)
	}
}
