package browsertest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// rows is how many times the table of a chart has, made anew.
func (b *tab) rows(chart string) int {
	b.Helper()
	button := fmt.Sprintf(`document.querySelector('[data-chart="%s"] button`, chart)
	eval[bool](b, button+`[aria-expanded=true]')?.click(), `+button+`[aria-expanded=false]').click(), true`)
	b.settle()
	return eval[int](b, fmt.Sprintf(`document.querySelectorAll('[data-chart="%s"] tbody tr').length`, chart))
}

// The page keeps what it knew of a server that another one took the place of.
func TestHistoryOutlivesServer(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	var present atomic.Pointer[world]
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { present.Load().page.ServeHTTP(w, r) }))
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	begin := func() *world {
		w, err := newWorld(spec{ram: small.ram, work: small.work}, t.TempDir())
		must(t, err)
		t.Cleanup(w.close)
		present.Store(w)
		return w
	}
	w := begin()
	must(t, w.tick(30))
	b := open(t, server.URL+"/", view{})
	wait[bool](b, drawn(w.seq()))
	before, run := b.rows("hits"), eval[string](b, "document.documentElement.dataset.run")

	begin()
	server.CloseClientConnections()
	wait[bool](b, fmt.Sprintf(`document.documentElement.dataset.run !== %q`, run))
	if after := b.rows("hits"); before < 4 || after < before {
		t.Errorf("%d times in the table after a restart of the server, %d before it: want 4 before, and no fewer after", after, before)
	}
	for _, problem := range b.takeProblems() {
		if !strings.Contains(problem, "ERR_INCOMPLETE_CHUNKED_ENCODING") && !strings.Contains(problem, "ERR_CONNECTION_RESET") {
			t.Errorf("the browser reports %s", problem)
		}
	}
}

// A server's clock that is set back moves what was before it, and hides nothing.
func TestClockIsSetBack(t *testing.T) {
	t.Parallel()
	w, url := serve(t, spec{ram: small.ram, work: small.work})
	must(t, w.tick(20))
	b := open(t, url, view{})
	wait[bool](b, drawn(w.seq()))
	before := b.rows("hits")
	w.now.Add(-int64(time.Hour))
	must(t, w.tick(10))
	wait[bool](b, drawn(w.seq()))
	if after := b.rows("hits"); after <= before {
		t.Errorf("%d times in the table after the clock was set back, %d before it: want more", after, before)
	}
	b = open(t, url, view{})
	wait[bool](b, drawn(w.seq()))
	if after := b.rows("hits"); after <= before {
		t.Errorf("%d times in the table of a page that was opened after the clock was set back: want more than %d", after, before)
	}
}

// A link that is pressed in one second and let go in the next is the same link.
func TestLinksStay(t *testing.T) {
	t.Parallel()
	s := spec{ram: small.ram, work: small.work, names: []string{"users", "pictures"}}
	w, url := serve(t, s)
	b := open(t, url, view{})
	wait[bool](b, drawn(w.seq()))
	eval[bool](b, `(window.pressed = [...document.querySelectorAll("#overview .cache *, .card button")], true)`)
	must(t, w.tick(2))
	wait[bool](b, drawn(w.seq()))
	if gone := eval[int](b, `window.pressed.filter(e => !e.isConnected).length`); gone > 0 {
		t.Errorf("%d elements of links and buttons were replaced by a frame: a click on them would be lost", gone)
	}
}
