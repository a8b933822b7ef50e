package browsertest

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// What ten viewers cost the program: the processors' time for a frame, of which there is one a
// second. It is measured over frames that follow each other at once, in a process that
// does nothing else.
func TestCostOfViewers(t *testing.T) {
	c := startChild(t, "127.0.0.1:0")
	for range 20 {
		c.ask("tick")
	}
	alone := costOfFrame(t, c, nil)
	var viewers []*viewer
	for range 10 {
		viewers = append(viewers, watch(t, "http://"+c.addr+"/events"))
	}
	watched := costOfFrame(t, c, viewers)
	const most = 0.01 // the aim is 0.001; a machine that does much else measures more
	t.Logf("a frame takes %v of a processor without viewers, %v with ten: ten cost %.4f %% of one, all of it %.4f %%",
		alone, watched, 100*(watched-alone).Seconds(), 100*watched.Seconds())
	if share := (watched - alone).Seconds(); share > most {
		t.Errorf("ten viewers cost %.3f %% of a processor, want at most %.0f %%", 100*share, 100*most)
	}
}

// costOfFrame is the mean processor time of a frame that all viewers receive.
func costOfFrame(t *testing.T, c *child, viewers []*viewer) time.Duration {
	t.Helper()
	const frames = 200
	c.ask("collect")
	before := cpu(t, c)
	for range frames {
		c.ask("frame")
		for _, v := range viewers {
			v.next(t)
		}
	}
	return (cpu(t, c) - before) / frames
}

func cpu(t *testing.T, c *child) time.Duration {
	t.Helper()
	n, err := strconv.ParseInt(strings.TrimSpace(c.ask("cpu")), 10, 64)
	must(t, err)
	if n == 0 {
		t.Skip("this system does not tell the time of a process")
	}
	return time.Duration(n)
}

// viewer reads the events as a browser does.
type viewer struct{ lines *bufio.Scanner }

func watch(t *testing.T, url string) *viewer {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	t.Cleanup(cancel)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	must(t, err)
	request.Header.Set("Accept", "text/event-stream")
	response, err := http.DefaultClient.Do(request) // it asks for gzip, and unpacks it
	must(t, err)
	t.Cleanup(func() { response.Body.Close() })
	if response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s", url, response.Status)
	}
	v := &viewer{bufio.NewScanner(response.Body)}
	v.lines.Buffer(nil, 1<<20)
	return v
}

// next waits for a frame.
func (v *viewer) next(t *testing.T) {
	t.Helper()
	for v.lines.Scan() {
		if strings.HasPrefix(v.lines.Text(), "data:") {
			return
		}
	}
	t.Fatalf("the stream ended: %v", v.lines.Err())
}

// The page is small, and there at once.
func TestFirstPaint(t *testing.T) {
	_, url, seq := full(t)
	best := time.Hour
	for range 3 {
		b := open(t, url, view{})
		wait[bool](b, drawn(seq))
		ms := eval[float64](b, `new Promise(done => new PerformanceObserver(list => list.getEntriesByName("first-contentful-paint").forEach(e => done(e.startTime))).observe({type: "paint", buffered: true}))`)
		best = min(best, time.Duration(ms*float64(time.Millisecond)))
		must(t, chromedp.Do(b.ctx, chromedp.Navigate("about:blank"))) // its stream ends
	}
	t.Logf("the first paint comes after %v", best)
	if most := 5 * time.Second; best > most { // the aim is 200 ms
		t.Errorf("the first paint comes after %v, want %v", best, most)
	}
}

// The page takes at most 80 KB to transfer, all its files together.
func TestTransferSize(t *testing.T) {
	t.Parallel()
	_, url, seq := full(t)
	b := open(t, url, view{})
	wait[bool](b, drawn(seq))
	type file struct {
		Name string
		Size float64
	}
	var sum float64
	for _, f := range eval[[]file](b, `[...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")].map(e => ({Name: e.name, Size: e.transferSize}))`) {
		name := f.Name[strings.LastIndex(f.Name, "/")+1:]
		t.Logf("%6.0f bytes: %s", f.Size, fmt.Sprintf("/%s", name))
		if !strings.HasPrefix(name, "history.json") && !strings.HasPrefix(name, "events") {
			sum += f.Size
		}
	}
	if sum == 0 || sum > 80_000 {
		t.Errorf("the page has %.0f bytes, want 1 to 80,000", sum)
	}
}
