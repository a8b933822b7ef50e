package browsertest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// withCurve is a page whose history has another curve for its first cache.
func withCurve(page http.Handler, curve string) http.Handler {
	return withLast(page, func(last map[string]any) {
		last["caches"].([]any)[0].(map[string]any)["curve"] = json.RawMessage(curve)
	})
}

// withLast is a page whose history has a last frame that is changed.
func withLast(page http.Handler, change func(last map[string]any)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/history.json") {
			page.ServeHTTP(w, r)
			return
		}
		plain, answer := r.Clone(r.Context()), httptest.NewRecorder()
		plain.Header.Del("Accept-Encoding")
		page.ServeHTTP(answer, plain)
		var history map[string]any
		if err := json.Unmarshal(answer.Body.Bytes(), &history); err != nil {
			panic(err) // of the page's own JSON
		}
		change(history["last"].(map[string]any))
		_ = json.NewEncoder(w).Encode(history)
	})
}

// curvePoint is a valid point of a curve, as JSON.
func curvePoint(factor, miss, err, loads, reads float64) string {
	return fmt.Sprintf(`{"factor":%v,"bytes":%v,"state":"valid","filled":1,"keys":5000,"miss_ratio":%v,"error":%v,"loads_per_second":%v,`+
		`"ssd_reads_per_second":%v,"saved_ns_per_hour":9e11}`, factor, factor*(64<<20), miss, err, loads, reads)
}

// unknown is a point of a curve that is filling.
const unknown = `{"factor":2,"bytes":134217728,"state":"filling","filled":0.5}`

// Over an SSD, what RAM misses is no miss of the cache, and loads that the curve of both could not
// tell from none are not promised.
func TestWordsOfCurveOverSSD(t *testing.T) {
	t.Parallel()
	w, _ := serve(t, small)
	must(t, w.tick(1))
	for _, want := range []string{"Twice the RAM, 128 MiB, would lower the reads that miss.", "<b>x</b> & more"} {
		quoted, err := json.Marshal(want)
		must(t, err)
		curve := `{"reads_per_second":8000,"load_time_ns":5e6,"ram":{"miss_ratio":0.19,"simulated":0.19,"reads":1.5e6,"window_ns":72e10,"advice":[` + string(quoted) + `],"points":[` +
			curvePoint(1, .19, .005, 600, 900) + "," + unknown + "," + curvePoint(4, .15, .005, 300, 590) +
			`]},"both":{"miss_ratio":0.075,"simulated":0.075,"points":[` + curvePoint(1, .075, .01, 600, 0) + `]}}`
		mux := http.NewServeMux()
		mux.Handle("/", withCurve(w.page, curve))
		server := httptest.NewServer(mux)
		t.Cleanup(server.Close)
		t.Cleanup(server.CloseClientConnections)
		b := open(t, server.URL, view{})
		wait[bool](b, drawn(w.seq()))
		said := eval[string](b, `document.querySelector('[data-chart="curve"] .say li').textContent.replaceAll("\u00a0", " ")`)
		if said != want {
			t.Errorf("the page says %q, want %q", said, want)
		}
		if line := eval[string](b, `document.querySelector('[data-chart="curve"] .plot path.line').getAttribute("d")`); strings.Count(line, "M") != 2 {
			t.Errorf("the curve is %q: want a gap where a point is not known", line)
		}
		rest := eval[string](b, `document.querySelector('[data-chart="curve"] .say li:last-child').textContent.replaceAll("\u00a0", " ")`)
		if want := "Over the last 1.5M reads, 12 min."; rest != want {
			t.Errorf("the page says %q, want %q", rest, want)
		}
	}
}

// The link to the figures leads to those of the cache that is shown, whatever another is called.
func TestSkipLink(t *testing.T) {
	t.Parallel()
	w, url := serve(t, spec{ram: small.ram, work: small.work, names: []string{"users", "main", "pictures"}})
	b := open(t, url+"#pictures", view{})
	wait[bool](b, drawn(w.seq()))
	const follow = `(document.querySelector(".skip").click(), location.hash + " " + document.activeElement.id)`
	if at := eval[string](b, follow); at != "#pictures main" {
		t.Errorf("it leads to %q, want #pictures, and the focus in main", at)
	}
}

// A collector that runs often is told, with what to do about it; one that does not is not.
func TestWordsOfCollector(t *testing.T) {
	t.Parallel()
	w, _ := serve(t, small)
	must(t, w.tick(1))
	for share, want := range map[float64]string{
		.09: "",
		.36: "Go’s collector takes 36.0 % of the processors. It runs each time the heap, 5 MiB, has doubled, and the cache’s memory does not count. " +
			"A larger GOGC, or GOGC=off and a GOMEMLIMIT with room for garbage, makes it run less often.",
	} {
		server := httptest.NewServer(withLast(w.page, func(last map[string]any) {
			process := last["process"].(map[string]any)
			process["gc_cpu_share"], process["heap_bytes"] = share, 5<<20
		}))
		t.Cleanup(server.Close)
		t.Cleanup(server.CloseClientConnections)
		b := open(t, server.URL, view{})
		wait[bool](b, drawn(w.seq()))
		if said := eval[string](b, `document.querySelector('[data-chart="gc"] .say').textContent.replaceAll("\u00a0", " ").replaceAll("\u202f", " ")`); said != want {
			t.Errorf("with %v of the processors: %q, want %q", share, said, want)
		}
	}
}
