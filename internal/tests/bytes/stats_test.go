package bytes

import (
	"reflect"
	"strings"
	"testing"

	"github.com/firncache/firn/internal/tests/harness"
	"github.com/firncache/firn/stats"
)

// Every field of Stats has a metric, and every metric reads its own field.
func TestMetricsCoverStats(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range stats.Metrics() {
		if seen[m.Name] || m.Help == "" || m.Unit == "" || m.Name != strings.ToLower(m.Name) {
			t.Errorf("metric %+v: want a name of its own in snake case, a unit and a help text", m.Name)
		}
		seen[m.Name] = true
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[stats.Cache]()) {
		if f.Type.Kind() != reflect.Struct {
			wantMetric(t, f.Name, f.Index)
			continue
		}
		for _, below := range reflect.VisibleFields(f.Type) {
			wantMetric(t, f.Name+"."+below.Name, append(f.Index[:1:1], below.Index...))
		}
	}
}

// wantMetric makes sure that one metric reads a field of Stats.
func wantMetric(t *testing.T, name string, index []int) {
	t.Helper()
	var s stats.Cache
	switch f := reflect.ValueOf(&s).Elem().FieldByIndex(index); {
	case f.CanInt():
		f.SetInt(1)
	case f.CanUint():
		f.SetUint(1)
	case f.Kind() == reflect.Bool:
		f.SetBool(true)
	default:
		f.Addr().Interface().(*stats.Histogram).Add(1)
	}
	moved := 0
	for _, m := range stats.Metrics() {
		moved += int(m.Value(&s))
		if isDistribution := strings.HasSuffix(name, "Durations") || strings.HasSuffix(name, "Ages"); (m.Histogram != nil && m.Histogram(&s).Count() > 0) != (isDistribution && m.Value(&s) > 0) {
			t.Errorf("metric %s of Stats.%s: its histogram and its value disagree", m.Name, name)
		}
	}
	if moved != 1 {
		t.Errorf("%d metrics read Stats.%s, want 1", moved, name)
	}
}

func TestStatsAddUp(t *testing.T) {
	c := harness.OpenSmall(t)
	for i := range 100 {
		c.Set([]byte{byte(i)}, make([]byte, 100))
	}
	for i := range 150 {
		c.Get(nil, []byte{byte(i)})
	}
	c.Delete([]byte{0})
	c.Delete([]byte{0})
	s := c.Stats()
	if s.Hits != 100 || s.Misses != 50 || s.Sets != 100 || s.Deletes != 1 || s.Entries != 99 || s.HitRatio() != 100.0/150 {
		t.Errorf("got %+v", s)
	}
	if s.RAM.RecordBytes != 99*112 { // 8 + 1 + 100, rounded up to 8
		t.Errorf("%d bytes of records, want %d", s.RAM.RecordBytes, 99*112)
	}
	if s.RAM.UsedBytes < s.RAM.RecordBytes+s.RAM.IndexBytes+s.RAM.OverheadBytes || s.RAM.UsedBytes > s.RAM.Bytes {
		t.Errorf("%d bytes used: want at least records + index + overhead, at most the budget: %+v", s.RAM.UsedBytes, s)
	}
}
