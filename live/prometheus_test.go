package live

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/firncache/firn/stats"
)

// Every metric is there for every cache, after its help text and type.
func TestPrometheus(t *testing.T) {
	one, two := open(t), open(t)
	for n := range 3 {
		if err := one.Set([]byte{byte(n)}, nil); err != nil {
			t.Fatal(err)
		}
	}
	h := New(Options{Caches: []Named{{Name: "one", Cache: one}, {Name: "a\"b\\c\nd\xff", Cache: two}}})
	w := get(h, "/metrics")
	page := text(t, w)
	if !utf8.ValidString(page) {
		t.Error("it is no UTF-8")
	}
	sample := regexp.MustCompile(`^firn_[a-z0-9_]+\{cache="(one|a\\"b\\\\c\\nd` + "\uFFFD" + `)"(,le="[^"]+")?\} [0-9.e+-]+$`)
	for line := range strings.Lines(page) {
		if line = strings.TrimSuffix(line, "\n"); !strings.HasPrefix(line, "# ") && !sample.MatchString(line) {
			t.Errorf("%q is no sample", line)
		}
	}
	for _, m := range stats.Metrics() {
		name, kind := prometheusName(m), map[bool]string{true: "counter", false: "gauge"}[m.Counter]
		first := name + `{cache="one"} `
		if m.Histogram != nil {
			kind, first = "histogram", name+`_bucket{cache="one",le="`
		}
		if head := fmt.Sprintf("# HELP %s %s\n# TYPE %s %s\n%s", name, m.Help, name, kind, first); strings.Count(page, head) != 1 {
			t.Errorf("not once there: %s", head)
		}
	}
	for _, want := range []string{"firn_sets_total{cache=\"one\"} 3\n", "firn_load_duration_seconds_count{cache=\"one\"} 0\n", "_bucket{cache=\"one\",le=\"+Inf\"} 0\n"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q", want)
		}
	}
	if got := helpEscaper.Replace("a\\b\nc\"d"); got != `a\\b\nc"d` {
		t.Errorf("help text %q", got)
	}
}

// Buckets are those up to a bound, in seconds.
func TestPrometheusHistogram(t *testing.T) {
	c := open(t)
	h := Handler(c)
	for n := range 3 {
		if _, err := c.GetOrLoad(t.Context(), nil, []byte{byte(n)}, load); err != nil {
			t.Fatal(err)
		}
	}
	page := text(t, get(h, "/metrics"))
	for _, want := range []string{`_bucket{cache="cache 1",le="268.435456"} 3`, `_bucket{cache="cache 1",le="+Inf"} 3`, `_count{cache="cache 1"} 3`} {
		if !strings.Contains(page, "\nfirn_load_duration_seconds"+want+"\n") {
			t.Errorf("no %s", want)
		}
	}
	stats := c.Stats()
	if want := fmt.Sprintf("firn_load_duration_seconds_sum{cache=\"cache 1\"} %v\n", stats.Loads.Durations.Sum().Seconds()); !strings.Contains(page, want) {
		t.Errorf("no %s", want)
	}
}
