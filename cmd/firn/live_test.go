package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/firncache/firn"
	"github.com/firncache/firn/stats"
)

// replayed is a "firn replay" under way, and the lines of its stderr so far unread.
type replayed struct {
	stdout strings.Builder // to be read when status came
	stderr *bufio.Reader
	status chan int
	cancel func()
}

func startReplay(t *testing.T, args ...string) *replayed {
	t.Helper()
	r, w := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	run1 := &replayed{stderr: bufio.NewReader(r), status: make(chan int, 1), cancel: cancel}
	go func() {
		run1.status <- run(ctx, append([]string{"replay"}, args...), &run1.stdout, w)
		w.Close()
	}()
	return run1
}

// line is the next line of stderr.
func (r *replayed) line(t *testing.T, prefix string) (rest string) {
	t.Helper()
	line, err := r.stderr.ReadString('\n')
	rest, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), prefix)
	if err != nil || !ok {
		t.Fatalf("got %q, %v, want %q", line, err, prefix)
	}
	return rest
}

// figures are some of those of a frame.
type figures struct {
	Caches []struct {
		Name   string
		Closed bool
		Stats  struct{ Hits, Misses float64 }
		Curve  *stats.Curve
	}
}

// frames calls use with one frame of a page after another, until it returns true or there are no
// more. They have the figures of one cache, the first if it has no name.
func frames(t *testing.T, page, name string, use func(figures) bool) {
	t.Helper()
	response, err := http.Get(page + "events?cache=" + url.QueryEscape(name))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	for lines := bufio.NewReader(response.Body); ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			var f figures
			if err := json.Unmarshal([]byte(data), &f); err != nil || use(f) {
				return
			}
		}
	}
}

// The page shows what the report says, stays after it, and goes at an interrupt, as do the
// temporary files of the SSD tier.
func TestReplayLive(t *testing.T) {
	temp := tempDir(t)
	one, two := writeTrace(t, "one.trc", 1000, 10), writeTrace(t, "two.trc", 500, 10)
	r := startReplay(t, "-live", ":0", "-ram", "1MiB", "-ssd", "8MiB", "-goroutines", "1", one, two, one)
	url := r.line(t, "firn: see the cache at ")
	if !strings.HasPrefix(url, "http://127.0.0.1:") {
		t.Errorf("the page is at %s", url)
	}
	if rest := r.line(t, "firn: the page stays at "); rest != url+" until you interrupt (Ctrl-C)" {
		t.Errorf("got %q", rest)
	}
	for i, name := range []string{one, two, one + " (2)"} {
		want, n := name+[]string{" 990 10 false", " 490 10 false", " 990 10 false"}[i], 0
		frames(t, url, name, func(f figures) bool { // once a second
			var got string
			if len(f.Caches) == 3 {
				c := f.Caches[i]
				got = fmt.Sprintf("%s %v %v %v", c.Name, c.Stats.Hits, c.Stats.Misses, c.Closed)
			}
			if got != want {
				if n++; n < 20 {
					return false
				}
				t.Errorf("got  %s\nwant %s", got, want)
			}
			return true
		})
	}
	r.cancel()
	if status := <-r.status; status != 0 || strings.Count(r.stdout.String(), ", 1 goroutine\n") != 3 {
		t.Errorf("status %d, stdout\n%s", status, &r.stdout)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if _, err := http.Get(url); err == nil {
		t.Error("the page is there still")
	}
}

// Who looks at the page when another cache comes begins anew, and sees both.
func TestLivePageGrows(t *testing.T) {
	t.Parallel()
	p, err := openPage("localhost:0", io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	open := func() *firn.Cache {
		c, err := firn.Open(firn.Options{RAMBytes: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		_ = p.keep(c.Close)
		return c
	}
	p.add("users", open())
	seen := 0
	frames(t, p.url, "", func(f figures) bool { // ends by itself
		if seen++; seen == 1 {
			p.add("users", open())
		}
		return false
	})
	frames(t, p.url, "", func(f figures) bool {
		if len(f.Caches) != 2 || f.Caches[0].Name != "users" || f.Caches[1].Name != "users (2)" {
			t.Errorf("got %+v", f)
		}
		return true
	})
	if err := p.close(); err != nil {
		t.Error(err)
	}
	if p.caches[0].Cache.Set([]byte("k"), nil) == nil {
		t.Error("the cache is open still")
	}
}

// Without a host the page is for this machine alone; a name is one that it may be reached by.
func TestLiveAddress(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		":0": "127.0.0.1", "127.0.0.1:0": "127.0.0.1", "0.0.0.0:0": "localhost", "localhost:0": "localhost",
	} {
		p, err := openPage(address, io.Discard)
		if err != nil {
			t.Errorf("%s: %v", address, err)
			continue
		}
		_, port, _ := net.SplitHostPort(p.listener.Addr().String())
		if p.url != "http://"+want+":"+port+"/" {
			t.Errorf("%s: %s", address, p.url)
		}
		if ip := p.listener.Addr().(*net.TCPAddr).IP; ip.IsLoopback() == (address == "0.0.0.0:0") {
			t.Errorf("%s: listens at %v", address, ip)
		}
		if err := p.close(); err != nil {
			t.Error(err)
		}
	}
}

// An address that cannot be had is told before anything is run.
func TestLiveBadInput(t *testing.T) {
	t.Parallel()
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	for _, test := range []struct{ address, want string }{
		{"8080", `firn: -live "8080": want a host and a port, such as :8080 or 0.0.0.0:8080`},
		{"http://localhost:8080", `firn: -live "http://localhost:8080": want a host and a port`},
		{":99999", "firn: -live: listen tcp: address 99999: invalid port"},
		{busy.Addr().String(), "firn: -live: listen tcp " + busy.Addr().String() + ": bind: "},
	} {
		status, stdout, stderr := runFirn("replay", "-live", test.address)
		if status != 2 || stdout != "" || !strings.HasPrefix(stderr, test.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: status %d, stdout %q\n got %swant %s", test.address, status, stdout, stderr, test.want)
		}
	}
}

// What fails, or is interrupted, does not stay.
func TestLiveEnds(t *testing.T) {
	t.Parallel()
	if status, _, stderr := runFirn("replay", "-live", ":0", "/no/such/file"); status != 2 || strings.Count(stderr, "\n") != 2 {
		t.Errorf("status %d, stderr %q", status, stderr)
	}
	r := startReplay(t, "-live", ":0", "-ram", "1MiB")
	r.cancel()
	r.line(t, "firn: see the cache at ")
	r.line(t, "firn: interrupted")
	if status := <-r.status; status != 130 {
		t.Errorf("status %d", status)
	}
}
