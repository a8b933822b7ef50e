package live

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firncache/firn/internal/inside"
)

// listen has a server on a socket for the time of a test.
func listen(t testing.TB, h http.Handler) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: h}
	ended := make(chan error)
	go func() { ended <- server.Serve(l) }()
	t.Cleanup(func() {
		_ = server.Close()
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// connect begins a stream of events, and reads up to its first frame.
func connect(t testing.TB, address string) (conn net.Conn, in *bufio.Reader, status string) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if _, err = fmt.Fprintf(conn, "GET /events HTTP/1.1\r\nHost: %s\r\n\r\n", address); err != nil {
		t.Fatal(err)
	}
	in = bufio.NewReader(conn)
	if status, err = in.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(status, " 200 ") {
		nextFrame(t, in)
	}
	return conn, in, strings.TrimSpace(status)
}

// nextFrame reads up to the data of the next frame, and returns its number.
func nextFrame(t testing.TB, in *bufio.Reader) (seq string) {
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			t.Error(err)
			return ""
		}
		if id, ok := strings.CutPrefix(line, "id: "); ok {
			seq = strings.TrimSpace(id)
		}
		if strings.HasPrefix(line, "data: ") {
			return seq
		}
	}
}

// A thousand viewers get the frames, and the next one is refused.
func TestThousandViewers(t *testing.T) {
	h := Handler(open(t))
	address := listen(t, h)
	var streams []*bufio.Reader
	for range 1000 {
		_, in, status := connect(t, address)
		if status != "HTTP/1.1 200 OK" {
			t.Fatalf("viewer %d: %s", len(streams), status)
		}
		streams = append(streams, in)
	}
	if _, _, status := connect(t, address); status != "HTTP/1.1 503 Service Unavailable" {
		t.Errorf("one more: %s", status)
	}
	if w := get(h, "/stats.json"); w.Code != http.StatusOK {
		t.Errorf("the figures themselves: %d", w.Code)
	}
	inside.Collect(h, time.Now())
	last := fmt.Sprint(h.(*page).collector.frame.Seq)
	var all sync.WaitGroup
	for _, in := range streams {
		all.Go(func() {
			for seq := ""; seq != last && !t.Failed(); {
				seq = nextFrame(t, in)
			}
		})
	}
	all.Wait()
}

// The cost of a frame of two caches for ten viewers on sockets, theirs included.
func BenchmarkFrameForTenViewers(b *testing.B) {
	h := Handler(open(b), open(b))
	address := listen(b, h)
	var streams []*bufio.Reader
	for range 10 {
		_, in, _ := connect(b, address)
		streams = append(streams, in)
	}
	at := time.Now()
	for b.Loop() {
		at = at.Add(time.Second)
		inside.Collect(h, at)
		for _, in := range streams {
			nextFrame(b, in)
		}
	}
	b.ReportMetric(float64(len(h.(*page).collector.last.Load().events[0]())), "B/frame")
}

func BenchmarkCollect(b *testing.B) {
	h := Handler(open(b), open(b))
	at := time.Now()
	for b.Loop() {
		at = at.Add(time.Second)
		inside.Collect(h, at)
	}
}

func BenchmarkHistory(b *testing.B) {
	h := Handler(open(b), open(b))
	at := time.Now()
	for range 900 {
		at = at.Add(time.Second)
		inside.Collect(h, at)
	}
	c := h.(*page).collector
	for b.Loop() {
		c.historyOf[0].seq = 0
		c.history(0)
	}
	b.ReportMetric(float64(len(c.history(0))), "B/history")
}
