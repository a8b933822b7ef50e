package curve

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

const point = `{"factor":1,"bytes":100,"state":"valid","miss_ratio":0.5,"error":0.1}`

// What has curves is recognized, and what a cache has no curve of is left out.
func TestParse(t *testing.T) {
	t.Parallel()
	const one = `{"ram":{"points":[` + point + `]},"both":{"points":null}}`
	for _, test := range []struct{ text, names string }{
		{one, "[]"},
		{`{"ram":{"points":[]}}`, "[]"},
		{`{"cache":"firn","trace":"a.trc","requests":5,"curve":` + one + `}` + "\n" + `{"trace":"generated","curve":` + one + `}` + "\n", "[a.trc generated]"},
		{`{"seq":7,"caches":[{"name":"users","curve":` + one + `},{"name":"new","curve":null},{"name":"old"},{"curve":` + one + `}]}`, "[users cache 4]"},
	} {
		curves, err := Parse([]byte(test.text))
		if err != nil {
			t.Errorf("%s: %v", test.text, err)
			continue
		}
		var names []string
		for _, c := range curves {
			names = append(names, c.Name)
		}
		if got := "[" + strings.Join(names, " ") + "]"; got != test.names {
			t.Errorf("%s: got %s, want %s", test.text, got, test.names)
		}
	}
}

func TestNoCurve(t *testing.T) {
	t.Parallel()
	const form = "want what firn replay -json wrote, the stats.json of a page, or a stats.Curve"
	ram := func(points string) string { return `{"ram":{"points":[` + points + `]}}` }
	for _, test := range []struct{ text, want string }{
		{"", "nothing in it"},
		{" \n", "nothing in it"},
		{"<html>", "no JSON: invalid character '<'"},
		{ram(point) + "{", "no JSON: unexpected EOF"},
		{"[1]", form},
		{"7", form},
		{`{"trace":"a.trc","requests":5}`, form},
		{`{"caches":[]}`, "none of its 0 caches has one yet"},
		{`{"caches":[{"name":"users"}]}`, "none of its 1 caches has one yet"},
		{`{"caches":[{"name":"users","curve":{"ram":7}}]}`, "users: json: cannot unmarshal number"},
		{`{"caches":[{"name":"users","curve":{"ram":{"points":[` + point + `],"reads":-1}}}]}`, "users: ram: reads is -1 and window_ns 0: want 0 or more"},
		{ram(strings.Replace(point, "valid", "odd", 1)), `"odd" is none of the choices`},
		{ram(strings.Replace(point, ":1,", ":2,", 1)), "none of ram.points has factor 1, the present size"},
		{ram(point + "," + point), "ram.points[1]: bytes is 100 and factor 1: want more than those before"},
		{ram(strings.Replace(point, "100", "0", 1)), "ram.points[0]: bytes is 0 and factor 1: want more than 0"},
		{ram(strings.Replace(point, "0.5", "1.5", 1)), "ram.points[0]: miss_ratio is 1.5"},
		{ram(strings.Replace(point, "0.5", "1e999", 1)), "cannot unmarshal number 1e999"},
		{ram(strings.Replace(point, "0.1", "-0.1", 1)), "error -0.1: want 0 to 1"},
		{ram(strings.Replace(point, "}", `,"loads_per_second":-1}`, 1)), "loads_per_second is -1"},
		{`{"ram":{"points":[]},"both":{"points":[{}]}}`, "none of both.points has factor 1"},
		{`{"ram":{"points":[]},"load_time_ns":-1}`, "load_time_ns -1: want 0 or more"},
	} {
		_, err := Parse([]byte(test.text))
		if !errors.Is(err, ErrNoCurve) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s\n got %v\nwant %s", test.text, err, test.want)
		}
	}
}

// What Parse accepts can be shown.
func FuzzParse(f *testing.F) {
	for _, name := range []string{"tiers.json", "ram.json"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"caches":[{"name":"users","curve":{"ram":{"points":[` + point + `]}}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		curves, err := Parse(data)
		if err != nil && !errors.Is(err, ErrNoCurve) {
			t.Fatal(err)
		}
		for i := range curves {
			Table(io.Discard, &curves[i], Style{60, false})
			Chart(io.Discard, &curves[i].Curve, Style{60, true})
		}
	})
}

// A curve is the same after it was written.
func TestParseWritten(t *testing.T) {
	t.Parallel()
	want := read(t, "tiers.json")
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Parse(text)
	if err != nil || !reflect.DeepEqual(got[0].Curve, want) {
		t.Errorf("%v: got %+v\nwant %+v", err, got, want)
	}
}

func TestFetch(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/debug/firn/stats.json":
			io.WriteString(w, "figures")
		case "/large":
			w.Write(make([]byte, mostBytes+1))
		case "/cut":
			w.Header().Set("Content-Length", "9")
			io.WriteString(w, "cut")
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "curve.json")
	if err := os.WriteFile(file, []byte("a file"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ from, want, err string }{
		{"-", "stdin", ""},
		{file, "a file", ""},
		{server.URL + "/debug/firn/", "figures", ""},
		{server.URL + "/debug/firn/stats.json", "figures", ""},
		{server.URL, "", server.URL + "/stats.json answers 404 Not Found"},
		{server.URL + "/cut", "", server.URL + "/cut: unexpected EOF"},
		{server.URL + "/large", "", server.URL + "/large: larger than 16 MiB: no what-if curve"},
		{strings.Replace(server.URL, "http", "https", 1), "", "server gave HTTP response to HTTPS client"},
		{"ftp://localhost/curve", "", "open ftp://localhost/curve: no such file or directory"},
		{file + ".none", "", "no such file or directory"},
	} {
		got, err := Fetch(t.Context(), test.from, strings.NewReader("stdin"))
		if test.err == "" && (string(got) != test.want || err != nil) || test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)) {
			t.Errorf("%s: got %.20q, %v, want %q, %s", test.from, got, err, test.want, test.err)
		}
	}
}

// A server that does not answer is not waited for when the context ends.
func TestFetchEnds(t *testing.T) {
	t.Parallel()
	arrived, over := make(chan struct{}), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(arrived)
		<-over
	}))
	defer server.Close()
	defer close(over)
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("no answer within a moment")
	go func() { <-arrived; cancel(why) }()
	if _, err := Fetch(ctx, server.URL, nil); !errors.Is(err, why) || !strings.Contains(err.Error(), server.URL) {
		t.Error(err)
	}
}
