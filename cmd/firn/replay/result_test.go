package replay

import (
	"encoding/json"
	"strings"
	"testing"
)

// Programs read these names: they are added to, never changed.
func TestJSONKeys(t *testing.T) {
	t.Parallel()
	const want = `{"cache":"firn","trace":"t","ram_bytes":1,"goroutines":2,` +
		`"requests":3,"hits":4,"misses":5,"writes":6,"hit_ratio":0.5,"byte_hit_ratio":null,"rejected":7,"wrong_values":8,` +
		`"evictions":9,"expired":null,"cache_bytes":null,"rss_bytes":10,"rss_peak_bytes":17,"rss_before_bytes":null,` +
		`"duration_seconds":11,"ops_per_second":12,"p50_ns":13,"p99_ns":14,"p999_ns":15,` +
		`"gc_cycles":16,"gc_cpu_fraction":0.25,"share_done":0.5,"interrupted":false}`
	result := Result{
		Cache: "firn", Trace: "t", RAMBytes: 1, Goroutines: 2, Requests: 3, Hits: 4, Misses: 5, Writes: 6,
		HitRatio: 0.5, Rejected: 7, WrongValues: 8, Evictions: known(9), Expired: known(Unknown), RSSBytes: known(10), RSSPeak: known(17),
		DurationSeconds: 11, OpsPerSecond: 12, P50: 13, P99: 14, P999: 15, GCCycles: 16, GCCPUFraction: 0.25, ShareDone: 0.5,
	}
	got, err := json.Marshal(result)
	if err != nil || string(got) != want {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
	result.Against = []Result{result}
	if got, err = json.Marshal(result); err != nil || !strings.HasSuffix(string(got), `,"against":[`+want+`]}`) {
		t.Errorf("got %s, %v", got, err)
	}
}
