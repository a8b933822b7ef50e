package browsertest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
)

// The page finds the server that took the place of the one that it was opened from.
func TestServerStartsAnew(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	first := startChild(t, "127.0.0.1:0")
	b := open(t, "http://"+first.addr+"/", view{})
	for range 3 {
		first.ask("tick")
	}
	wait[bool](b, drawn(4))
	run := eval[string](b, "document.documentElement.dataset.run")
	first.kill()
	wait[bool](b, `document.documentElement.dataset.connection === "lost"`)
	wait[bool](b, `getComputedStyle(document.querySelector("main")).filter === "grayscale(1)" && /figures are \d+.s old/.test(document.getElementById("connection").textContent)`)

	second := startChild(t, first.addr)
	wait[bool](b, fmt.Sprintf(`document.documentElement.dataset.connection === "live" && document.documentElement.dataset.run !== %q`, run))
	second.ask("tick")
	wait[bool](b, `Number(document.querySelector('[data-series="reads"]').dataset.value) > 0`)
	if seq := eval[uint64](b, "Number(document.documentElement.dataset.seq)"); seq > 4 {
		t.Errorf("frame %d after a restart: want a history that begins anew", seq)
	}
	for _, problem := range b.takeProblems() {
		if !strings.Contains(problem, "ERR_CONNECTION_REFUSED") && !strings.Contains(problem, "ERR_INCOMPLETE_CHUNKED_ENCODING") && !strings.Contains(problem, "ERR_CONNECTION_RESET") {
			t.Errorf("the browser reports %s", problem)
		}
	}
}

// A cache that is closed is shown as closed, and the others go on.
func TestCacheCloses(t *testing.T) {
	t.Parallel()
	s := small
	s.names = []string{"users", "pictures"}
	w, url := serve(t, s)
	b := open(t, url, view{})
	must(t, w.tick(2))
	wait[bool](b, drawn(w.seq()))
	must(t, w.caches[0].Close())
	w.works = w.works[1:]
	must(t, w.tick(2))
	wait[bool](b, drawn(w.seq()))
	for i, want := range []bool{true, false} {
		text := b.choose(i)
		if strings.Contains(strings.ToLower(text), "closed") != want {
			t.Errorf("cache %d says %q: closed is %v", i, text[:min(len(text), 300)], want)
		}
	}
	if values, _ := shown(b, 1); values["reads"] == 0 {
		t.Error("the cache that is open has no reads")
	}
}

// choose has the page show a cache, and returns what it says of it, in its list of caches and below.
func (b *tab) choose(cache int) string {
	b.Helper()
	row := fmt.Sprintf(`document.querySelectorAll("#overview .cache")[%d]`, cache)
	eval[bool](b, row+".click(), true")
	wait[bool](b, fmt.Sprintf(`document.querySelector('[data-cache="%d"]') !== null`, cache))
	return eval[string](b, row+`.textContent + " " + document.querySelector("[data-cache]").innerText`)
}

// Names are text, whatever is in them.
func TestNamesAreText(t *testing.T) {
	t.Parallel()
	s := small
	s.names = []string{`<img src=x onerror="console.error(1)">`, `"quotes" & 'more' </script><b>`, "кеш 缓存 🧊", strings.Repeat("long", 50), "", "  "}
	w, url := serve(t, s)
	b := open(t, url, view{width: 360})
	must(t, w.tick(1))
	wait[bool](b, drawn(w.seq()))
	for i, name := range s.names {
		if strings.TrimSpace(name) == "" {
			continue
		}
		if text := b.choose(i); !strings.Contains(text, name) {
			t.Errorf("cache %d is called %q, and the page does not say so", i, name)
		}
	}
	if n := eval[int](b, `document.querySelectorAll("img, script:not([src])").length`); n != 0 {
		t.Errorf("the page has %d elements that a name asked for", n)
	}
	b.want(t, "scrolls")
}

// The page works wherever it is mounted, and behind what adds a prefix to its path.
func TestMounts(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	w, err := newWorld(small, t.TempDir())
	must(t, err)
	t.Cleanup(w.close)
	must(t, w.tick(2))
	mux := http.NewServeMux()
	mux.Handle("/a/b%20c/", w.page)
	mux.Handle("/stripped/", http.StripPrefix("/stripped", w.page))
	mux.Handle("/debug/firn/", w.page)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	target, err := url.Parse(server.URL)
	must(t, err)
	outside := http.StripPrefix("/team/shop", &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }})
	proxy := httptest.NewServer(outside)
	t.Cleanup(proxy.Close)
	t.Cleanup(proxy.CloseClientConnections)
	for _, url := range []string{server.URL + "/a/b%20c/", server.URL + "/stripped/", server.URL + "/debug/firn", proxy.URL + "/team/shop/debug/firn/"} {
		b := open(t, url, view{})
		wait[bool](b, drawn(w.seq()))
		must(t, w.tick(1)) // comes by the stream
		wait[bool](b, drawn(w.seq()))
		if values, _ := shown(b, 0); values["reads"] == 0 {
			t.Errorf("%s: no reads", url)
		}
	}
}

// No key appears, in the page or in what it is made of.
func TestNoKeyAppears(t *testing.T) {
	t.Parallel()
	_, url, seq := full(t)
	b := open(t, url, view{})
	wait[bool](b, drawn(seq))
	all := eval[string](b, `Promise.all(["history.json", "stats.json", "metrics"].map(name => fetch(name).then(answer => answer.text()))).then(list => document.documentElement.outerHTML + list.join(""))`)
	if len(all) < 10_000 || strings.Contains(all, "product") {
		t.Errorf("what the page knows has %d bytes, and the keys' first word is in it: %v", len(all), strings.Contains(all, "product"))
	}
}
