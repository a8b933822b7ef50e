package httpcache

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

var now = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

func TestParseDate(t *testing.T) {
	for s, want := range map[string]string{
		"Sun, 06 Nov 1994 08:49:37 GMT":     "1994-11-06T08:49:37Z",
		"sun, 06 nov 1994 08:49:37 gmt":     "1994-11-06T08:49:37Z",
		"Sunday, 06-Nov-94 08:49:37 GMT":    "1994-11-06T08:49:37Z",
		"Saturday, 06-Nov-27 08:49:37 GMT":  "2027-11-06T08:49:37Z",
		"Sun Nov  6 08:49:37 1994":          "1994-11-06T08:49:37Z",
		"Sun, 06 Nov 1994 08:49:37 UTC":     "",
		"Sun, 06 Nov 1994 08:49:37 +0000":   "",
		"Sun, 06 Nov 94 08:49:37 GMT":       "",
		"Sun 06 Nov 1994 08:49:37 GMT":      "",
		"Sun, 06  Nov 1994 08:49:37 GMT":    "",
		"Sun, 06-Nov-1994 08:49:37 GMT":     "",
		"Sun, 06 Nov 1994 8:49:37 GMT":      "",
		"Sun, 06 Nov 1994 08.49.37 GMT":     "",
		"0":                                 "",
		"":                                  "",
		"Sun, 06 Nov 1994 08:49:37 GMT, Su": "",
	} {
		got := ""
		if d, ok := parseDate(s, now); ok {
			got = d.Format(time.RFC3339)
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", s, got, want)
		}
	}
}

func TestParseControl(t *testing.T) {
	for s, want := range map[string]func(c *control){
		"":                                       func(*control) {},
		"max-age=10":                             func(c *control) { c.maxAge = 10 * time.Second },
		`MAX-AGE="10"`:                           func(c *control) { c.maxAge = 10 * time.Second },
		"max-age='10'":                           func(c *control) { c.maxAge = 0 },
		"max-age=-1":                             func(c *control) { c.maxAge = 0 },
		"max-age=1.5":                            func(c *control) { c.maxAge = 0 },
		"max-age":                                func(c *control) { c.maxAge = 0 },
		"max-age=99999999999999999999":           func(c *control) { c.maxAge = maxSeconds * time.Second },
		"max-age =10":                            func(*control) {},
		"x-max-age=10, s-maxage=010":             func(c *control) { c.sMaxAge = 10 * time.Second },
		`a="\",no-store", ,, public`:             func(c *control) { c.public = true },
		`no-cache="Set-Cookie", must-revalidate`: func(c *control) { c.noCache, c.mustRevalidate = true, true },
		"max-stale":                              func(c *control) { c.maxStale = maxSeconds * time.Second },
		`a="no-store`:                            func(c *control) { c.noStore = true },
	} {
		expected := noControl
		want(&expected)
		if got := parseControl([]string{s}); got != expected {
			t.Errorf("%q: got %+v, want %+v", s, got, expected)
		}
	}
}

func TestParseTargeted(t *testing.T) {
	for s, want := range map[string]bool{
		"max-age=10":                                    true,
		"max-age=10;a;b=1, foo=(1 2.5 \"x\");q":         true,
		"a=:YWJj:, b=?0, c=@12, d=tok/en:*, max-age=10": true,
		"":                   false,
		"max-age=10,":        false,
		"max-age=10 foo":     false,
		"MAX-AGE=10":         false,
		"max-age=":           false,
		"max-age=10, &&":     false,
		"a=\"x":              false,
		"a=(1":               false,
		"a=1.":               false,
		"a=1234567890123456": false,
	} {
		c, ok := parseTargeted(s)
		if ok != want || ok && c.maxAge != 10*time.Second {
			t.Errorf("%q: %v %v, want %v", s, ok, c.maxAge, want)
		}
	}
}

func TestParseRange(t *testing.T) {
	for s, want := range map[string]span{
		"bytes=0-0": {0, 1}, "bytes=5-": {5, 5}, "bytes=-3": {7, 3}, "bytes=-30": {0, 10}, "Bytes=2-30": {2, 8}, "bytes= 2-3 ": {2, 2},
		"bytes=10-": {0, -1}, "bytes=-0": {0, -1},
		"bytes=3-2": {}, "bytes=a-": {}, "bytes=-": {}, "bytes=0-1,2-3": {}, "lines=0-1": {}, "bytes": {}, "bytes=+1-2": {}, "bytes=99999999999999999999-": {},
	} {
		got, state := parseRange(s, 10)
		switch state {
		case unsatisfiable:
			got = span{0, -1}
		case wholeBody:
			got = span{}
		}
		if got != want {
			t.Errorf("%q: got %v, want %v", s, got, want)
		}
	}
}

func FuzzCacheControl(f *testing.F) {
	f.Add("max-age=10, s-maxage=\"20\", no-cache=\"a,b\"")
	f.Fuzz(func(t *testing.T, s string) {
		c := parseControl([]string{s})
		for _, d := range []time.Duration{c.maxAge, c.sMaxAge, c.minFresh, c.maxStale, c.staleWhileRevalidate, c.staleIfError} {
			if d < absent || d > maxSeconds*time.Second {
				t.Errorf("%q: %v", s, d)
			}
		}
		if again := parseControl([]string{s, s}); again != c {
			t.Errorf("%q: %+v, and twice %+v", s, c, again)
		}
		for m := range members([]string{s}) {
			if m == "" || m != strings.Trim(m, " \t") {
				t.Errorf("%q has the member %q", s, m)
			}
		}
	})
}

func FuzzStructured(f *testing.F) {
	f.Add("max-age=10;a=?1, foo=(1 \"x\");q=:YQ==:, no-store")
	f.Fuzz(func(t *testing.T, s string) {
		c, ok := parseTargeted(s)
		if !ok && c != noControl {
			t.Errorf("%q: %+v of what is no dictionary", s, c)
		}
		if again, both := parseTargeted(s + ", zz=?0"); ok && (!both || again != c) {
			t.Errorf("%q and a member: %+v, want %+v", s, again, c)
		}
	})
}

func FuzzRange(f *testing.F) {
	f.Add("bytes=1-2", int64(10))
	f.Add("bytes=-5", int64(3))
	f.Fuzz(func(t *testing.T, s string, size int64) {
		if size < 0 {
			return
		}
		part, state := parseRange(s, size)
		if state == partOfBody && (part.first < 0 || part.length < 1 || part.first+part.length > size) {
			t.Errorf("%q of %d: %v", s, size, part)
		}
	})
}

func FuzzHead(f *testing.F) {
	b, _ := headCodec{}.Append(nil, &head{status: 200, lines: linesOf(http.Header{"A": {"1", "2"}}), inline: []byte("body"), size: 4})
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := headCodec{}.Decode(b)
		if err != nil {
			return
		}
		h.lines.header()
		if h.chunk == 0 && int64(len(h.inline)) != h.size {
			t.Errorf("%d bytes of %d", len(h.inline), h.size)
		}
	})
}

func TestHeadCodec(t *testing.T) {
	for _, h := range []*head{
		{status: 404, born: now.Local(), policy: policy{store: true, always: true, lifetime: time.Second, ifError: time.Hour}, size: 4, inline: []byte("body"), lines: linesOf(http.Header{"Etag": {`"a"`}, "Vary": {"A", "B"}})},
		{status: 200, born: now.Local(), policy: policy{store: true, strict: true, immutable: true, heuristic: true}, size: 1 << 20, chunk: 1 << 18, id: newID(), lines: linesOf(http.Header{"Empty": {""}})},
		{born: now.Local(), policy: policy{store: true}, id: newID(), fields: []string{"A", "B"}},
	} {
		b, err := headCodec{}.Append(nil, h)
		if err != nil {
			t.Fatal(err)
		}
		got, err := headCodec{}.Decode(b)
		if err != nil {
			t.Fatal(err)
		}
		again, _ := headCodec{}.Append(nil, got)
		if !bytes.Equal(b, again) || got.policy != h.policy || !slices.Equal(got.fields, h.fields) || !got.born.Equal(h.born) {
			t.Errorf("got %+v, want %+v", got, h)
		}
		for n := range b {
			if _, err := (headCodec{}).Decode(b[:n]); err == nil && n < fixedBytes {
				t.Errorf("%d bytes of %d were decoded", n, len(b))
			}
		}
	}
}
