package httpcache_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/httpcache"
)

// sized is an origin of one large body, which it writes in pieces.
type sized struct {
	bytes  []byte
	lies   bool // it ignores If-Range
	etag   string
	asked  atomic.Int64
	ranges atomic.Int64
}

func (o *sized) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	o.asked.Add(1)
	if r.Header.Get("Range") != "" {
		o.ranges.Add(1)
	}
	if o.lies {
		r = r.Clone(r.Context())
		r.Header.Del("If-Range")
	}
	w.Header().Set("Cache-Control", "max-age=60")
	if o.etag != "" {
		w.Header().Set("Etag", o.etag)
	}
	http.ServeContent(w, r, "a.bin", time.Time{}, bytes.NewReader(o.bytes))
}

func patterned(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i>>8) ^ byte(i*7)
	}
	return b
}

// A client that reads nothing holds up neither the store nor the others.
func TestSlowClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, httpcache.Options{MaxBodyBytes: 8 << 20})
		o := &sized{bytes: patterned(3 << 20), etag: `"a"`}
		transport := c.Transport(transportOf{o})
		slow, err := transport.RoundTrip(request(t, ""))
		if err != nil {
			t.Fatal(err)
		}
		resp, body := clients(c, o)["Transport"].get(t, "")
		if body != string(o.bytes) || o.asked.Load() != 1 {
			t.Errorf("%d bytes, %d requests: %v", len(body), o.asked.Load(), resp.Header)
		}
		all, err := io.ReadAll(slow.Body)
		if err != nil || !bytes.Equal(all, o.bytes) {
			t.Errorf("the slow one has %d bytes, %v", len(all), err)
		}
		_ = slow.Body.Close()
	})
}

// Bodies longer than an entry may be are stored in chunks, and parts of them found.
func TestLargeBody(t *testing.T) {
	for _, way := range []string{"Transport", "Handler"} {
		synctest.Test(t, func(t *testing.T) {
			c, _ := openIn(t, httpcache.Options{MaxBodyBytes: 8 << 20}, firn.Options{RAMBytes: 16 << 20})
			o := &sized{bytes: patterned(5<<20 + 123), etag: `"a"`}
			through := clients(c, o)[way]
			for range 2 {
				if _, body := through.get(t, ""); body != string(o.bytes) {
					t.Errorf("%d bytes", len(body))
				}
			}
			resp, part := through.get(t, "Range: bytes=1000000-1999999")
			if part != string(o.bytes[1000000:2000000]) || resp.StatusCode != http.StatusPartialContent {
				t.Errorf("%d: %d bytes of the part", resp.StatusCode, len(part))
			}
			if o.asked.Load() != 1 {
				t.Errorf("%d requests of the origin, want 1", o.asked.Load())
			}
		})
	}
}

// Where a chunk was evicted the rest comes from the origin, if that has the same body still; otherwise the answer is
// broken off, and never ends as if it were whole.
func TestEvictedChunk(t *testing.T) {
	for _, way := range []string{"Transport", "Handler"} {
		for _, origin := range []string{"same", "another", "another, without If-Range"} {
			same := origin == "same"
			t.Run(way+"/"+origin, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c, in := openIn(t, httpcache.Options{}, firn.Options{RAMBytes: 16 << 20})
					o := &sized{bytes: patterned(1 << 20), etag: `"a"`}
					through := clients(c, o)[way]
					through.get(t, "")
					dropOneChunk(t, in)
					if !same {
						o.etag, o.lies = `"b"`, origin != "another"
					}
					body, aborted := read(t, through)
					if aborted == same {
						t.Errorf("broken off: %v, want %v", aborted, !same)
					}
					if same && body != string(o.bytes) || !same && !strings.HasPrefix(string(o.bytes), body) {
						t.Errorf("%d bytes, which are not those of the origin", len(body))
					}
					if o.ranges.Load() != 1 {
						t.Errorf("%d requests for the rest, want 1", o.ranges.Load())
					}
				})
			})
		}
	}
}

// read sends a request, and reports whether its body was broken off.
func read(t *testing.T, through client) (body string, aborted bool) {
	defer func() {
		if v := recover(); v != nil {
			if err, ok := v.(error); !ok || !errors.Is(err, http.ErrAbortHandler) {
				t.Errorf("panic: %v", v)
			}
			aborted = true
		}
	}()
	_, body = through.get(t, "")
	return strings.TrimSuffix(body, "!"), strings.HasSuffix(body, "!")
}

// dropOneChunk deletes one of the entries that are chunks of bodies, in the middle.
func dropOneChunk(t *testing.T, in *firn.Cache) {
	t.Helper()
	var keys []string
	for key := range in.All() {
		if bytes.HasPrefix(key, []byte("httpcache\x00")) {
			keys = append(keys, string(key))
		}
	}
	if len(keys) < 4 {
		t.Fatalf("%d chunks", len(keys))
	}
	for _, key := range keys {
		if key[len(key)-1] == 2 {
			if err := in.Delete([]byte(key)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A body that turns out to be too long to be stored is for those who read it from its beginning: a client that comes
// later asks the origin.
func TestTooLateToJoin(t *testing.T) {
	for _, way := range []string{"Transport", "Handler"} {
		synctest.Test(t, func(t *testing.T) {
			c := open(t, httpcache.Options{MaxBodyBytes: 1 << 20})
			asked, gate := 0, make(chan struct{})
			through := clients(c, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked++
				w.Header().Set("Cache-Control", "max-age=60")
				_, _ = w.Write(patterned(2 << 20))
				pass(r, gate)
				_, _ = io.WriteString(w, "end")
			}))[way]
			first := through.later(t, "")
			synctest.Wait()
			second := through.later(t, "")
			synctest.Wait()
			close(gate)
			if want := "200 " + string(patterned(2<<20)) + "end"; first() != want || second() != want {
				t.Errorf("%s: not the whole body", way)
			}
			if asked != 2 {
				t.Errorf("%s: %d requests of the origin, want 2", way, asked)
			}
		})
	}
}
