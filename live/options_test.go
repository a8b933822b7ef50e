package live

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/firncache/firn"
)

// Options that make no sense are found when the page is made, and named.
func TestBadOptions(t *testing.T) {
	one, two := open(t), open(t)
	for want, opts := range map[string]Options{
		"live: Options.Caches[1].Cache is nil":                         {Caches: []Named{{Cache: one}, {Name: "two"}}},
		`live: Options.Caches[1].Cache is that of Caches[0], too`:      {Caches: []Named{{Cache: one}, {Name: "two", Cache: one}}},
		`live: Options.Caches[1].Name is "users", as that of Caches[0`: {Caches: []Named{{Name: "users", Cache: one}, {Name: "users", Cache: two}}},
		`live: Options.Caches[1].Name is "cache 2", as that of Caches`: {Caches: []Named{{Name: "cache 2", Cache: one}, {Cache: two}}},
		"live: Options.MaxViewers is -1: want":                         {MaxViewers: -1},
		`live: Options.Statsviz is "javascript:alert(1)": want`:        {Statsviz: "javascript:alert(1)"},
		`live: Options.Statsviz is ":": want`:                          {Statsviz: ":"},
		`live: Options.Statsviz is "statsviz/": want`:                  {Statsviz: "statsviz/"},
	} {
		if got := panicOf(func() { New(opts) }); !strings.HasPrefix(got, want) {
			t.Errorf("%+v: %q, want %q", opts, got, want)
		}
	}
	if got := panicOf(func() { Handler(one, nil) }); !strings.HasPrefix(got, "live: Options.Caches[1].Cache is nil") {
		t.Errorf("Handler: %q", got)
	}
}

// panicOf is the text of the error with which f panics, if it does.
func panicOf(f func()) (text string) {
	defer func() {
		if v := recover(); v != nil {
			text = fmt.Sprint(v)
		}
	}()
	f()
	return ""
}

// Caches are called by their names, in their order; the caller's list is not changed.
func TestNames(t *testing.T) {
	list := []Named{{Cache: open(t)}, {Name: `"ü\"` + "\n<b>", Cache: open(t)}, {Cache: open(t)}}
	h := New(Options{Caches: list, Statsviz: "../statsviz/"})
	frame := decode[told](t, text(t, get(h, "/stats.json")))
	for i, want := range []string{"cache 1", `"ü\"` + "\n<b>", "cache 3"} {
		if got := frame.Caches[i].Name; got != want {
			t.Errorf("cache %d is called %q, want %q", i, got, want)
		}
	}
	if list[0].Name != "" || frame.Process["statsviz"] != "../statsviz/" {
		t.Errorf("the caller's cache is called %q; statsviz is at %v", list[0].Name, frame.Process["statsviz"])
	}
}

// A page of no caches shows the process.
func TestNoCaches(t *testing.T) {
	h := Handler()
	for _, path := range []string{"/", "/history.json", "/stats.json", "/metrics"} {
		if w := get(h, path); w.Code != http.StatusOK {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	if body := text(t, get(h, "/stats.json")); !strings.Contains(body, `"caches": []`) {
		t.Errorf("%s", body)
	}
	if p := decode[past](t, text(t, get(h, "/history.json"))); len(p.Seq) != 1 || p.Caches == nil || p.Last.Run != p.Run {
		t.Errorf("%+v", p)
	}
}

// No key and no value is told, whatever the caches do with them.
func TestNoKeysNorValues(t *testing.T) {
	c := open(t)
	h := Handler(c)
	for i := range 5000 {
		key := fmt.Appendf(nil, "marked-key-%d", i)
		if err := c.SetWithTTL(key, fmt.Appendf(nil, "marked-value-%d", i), firn.Forever); err != nil {
			t.Fatal(err)
		}
		_, _ = c.Get(nil, key)
		_, _ = c.GetOrLoad(t.Context(), nil, append(key, '!'), load)
	}
	h.(*page).collector.refresh(0)
	for _, path := range []string{"/", "/app.js", "/style.css", "/history.json", "/stats.json", "/metrics", "/marked-key-1"} {
		w := get(h, path)
		if body := text(t, w); strings.Contains(body+headers(w), "marked-") {
			t.Errorf("%s tells of %s", path, body[max(strings.Index(body, "marked-")-20, 0):])
		}
	}
	if event := string(h.(*page).collector.last.Load().events[0]()); strings.Contains(event, "marked-") || len(event) < 1000 {
		t.Errorf("a frame tells %s", event)
	}
}
