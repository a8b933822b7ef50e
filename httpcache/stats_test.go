package httpcache_test

import (
	"reflect"
	"testing"

	"github.com/firncache/firn/httpcache"
)

// Counters are Stats, all of them, under names of their own.
func TestCounters(t *testing.T) {
	c := open(t, httpcache.Options{})
	through := clients(c, &scripted{answer: lasting})["Transport"]
	for range 3 {
		through.get(t, "")
	}
	got := map[string]uint64{}
	c.Counters(func(name, help string, value uint64) { got[name] = value })
	if len(got) != reflect.TypeFor[httpcache.Stats]().NumField() {
		t.Errorf("%d counters: %v", len(got), got)
	}
	if got["http_hits"] != 2 || got["http_misses"] != 1 || got["http_stored"] != 1 || got["http_saved_bytes"] != 12 {
		t.Errorf("%v", got)
	}
}
