package live

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/firncache/firn/internal/inside"
)

// page is the handler that New makes.
type page struct {
	collector  *collector // which does not have the page
	hosts      []string
	maxViewers int
	redact     func(namespace string, key []byte) string
	viewers    atomic.Int64
	servers    servers
}

func init() {
	inside.Collect = func(handler any, at time.Time) { handler.(*page).collector.takeOver(at) }
}

func newPage(opts Options) *page {
	p := &page{collector: newCollector(opts), hosts: opts.Hosts, maxViewers: opts.MaxViewers, redact: opts.HotKeys}
	runtime.AddCleanup(p, func(c *collector) { c.dropped.Store(true) }, p.collector)
	p.collector.start()
	return p
}

// ServeHTTP answers GET and HEAD.
func (p *page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	setHeaders(w.Header())
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		refuse(w, http.StatusMethodNotAllowed, "only GET and HEAD are answered here")
	case !hostAllowed(r, p.hosts):
		refuse(w, http.StatusForbidden, "the Host of this request is neither an address nor localhost nor this machine's name nor one of live.Options.Hosts")
	case !originAllowed(r):
		refuse(w, http.StatusForbidden, "this request comes from another site")
	default:
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTimeout))
		p.route(w, r)
	}
	runtime.KeepAlive(p)
}

// setHeaders says what browsers may do with the page: nothing that it does not do itself.
func setHeaders(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

func refuse(w http.ResponseWriter, status int, why string) {
	http.Error(w, "live: "+why, status)
}

// route answers by the last element of the path, so that the page may be mounted anywhere.
func (p *page) route(w http.ResponseWriter, r *http.Request) {
	switch name := endpoint(r); name {
	case "events":
		p.events(w, r)
	case "history.json":
		send(w, r, "application/json", nil, p.collector.history(p.collector.shown(r.URL.Query().Get("cache"))))
	case "stats.json":
		send(w, r, "application/json", p.collector.stats(), nil)
	case "hotkeys.json":
		p.hotKeys(w, r)
	case "metrics":
		send(w, r, "text/plain; version=0.0.4; charset=utf-8", p.collector.prometheus(), nil)
	case "":
		assets()["index.html"].serve(w, r)
	default:
		if a := assets()[name]; a != nil {
			a.serve(w, r)
		} else if isMount(r, name) {
			toDirectory(w, name)
		} else {
			refuse(w, http.StatusNotFound, "there is nothing of this name here: the page is at the path that ends in a slash")
		}
	}
}

// endpoint is the last element of a path: empty for the page itself.
func endpoint(r *http.Request) string {
	if r.URL.Path == "" { // of http.StripPrefix: the slash may have been a part of the prefix, or not be there
		if u, err := url.ParseRequestURI(r.RequestURI); err == nil && u.Path != "" {
			return u.Path[strings.LastIndexByte(u.Path, '/')+1:]
		}
	}
	return r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
}

// isMount reports whether a request is for the place where the page is mounted, without the
// slash at its end: the whole path was stripped, or the pattern of an http.ServeMux is the path.
func isMount(r *http.Request, name string) bool {
	return r.URL.Path == "" || r.Pattern != "" && strings.HasSuffix(r.Pattern, r.URL.Path) && name != ""
}

// toDirectory redirects to the same path with a slash. It is relative, since a proxy may have
// taken a prefix off the path.
func toDirectory(w http.ResponseWriter, name string) {
	w.Header().Set("Location", "./"+url.PathEscape(name)+"/")
	w.WriteHeader(http.StatusTemporaryRedirect)
}

// hotKeys is hotkeys.json: the keys of a cache that are read most, where Options.HotKeys is.
func (p *page) hotKeys(w http.ResponseWriter, r *http.Request) {
	if p.redact == nil {
		refuse(w, http.StatusNotFound, "keys are not shown: see live.Options.HotKeys")
		return
	}
	c := p.collector
	c.mu.Lock()
	at := c.frame.Time
	c.mu.Unlock()
	var answer struct {
		Keys    []hotKey `json:"keys"`
		Reads   int      `json:"reads"`
		Seconds float64  `json:"seconds"`
	}
	answer.Keys, answer.Reads, answer.Seconds = c.hot[c.shown(r.URL.Query().Get("cache"))].most(at, p.redact)
	text, _ := json.Marshal(answer)
	send(w, r, "application/json", text, nil)
}

// stats is stats.json: the last frame, with curves, for people to read.
func (c *collector) stats() []byte {
	c.refresh(period + period/2) // the goroutine has had no processor
	c.mu.Lock()
	f := c.frame
	c.mu.Unlock()
	text, _ := json.Marshal(f) // see publish
	var b bytes.Buffer
	_ = json.Indent(&b, text, "", "  ")
	b.WriteByte('\n')
	return b.Bytes()
}
