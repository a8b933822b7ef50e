package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/firncache/firn/cmd/firn/replay"
)

var update = flag.Bool("update", false, "write the golden file anew")

func TestSSDTable(t *testing.T) {
	t.Parallel()
	per := func(f float64) *float64 { return &f }
	result := replay.Result{
		Cache: "firn", Trace: "t", RAMBytes: 128 << 20, Goroutines: 16,
		Requests: 1000, Hits: 700, Misses: 300, HitRatio: .7, DurationSeconds: 1, OpsPerSecond: 1000, P50: 500, P99: 90_000, P999: 1_000_000, ShareDone: 1,
		SSD: &replay.SSD{
			Bytes: 1 << 30, Admission: "seen", On: true, Direct: true, RAMHits: 600, Hits: 100, Found: 5,
			Promotions: 90, Demotions: 200, Writes: 150, Refused: 7, Limited: 6, Shed: 4, TooLarge: 3, Superseded: 2, Evictions: 20, Reinsertions: 1,
			WrittenBytes: 3 << 20, WrittenPerSet: per(.5), WrittenPerByte: per(1.04), Reads: 110, ReadBytes: 440 << 10,
			P50: 90_123, P99: 2_000_000, P999: 3_000_000, Faults: 1, Entries: 180, FileBytes: 1000 << 20, Segments: 64, FreeSegments: 32, MemoryBytes: 9 << 20,
		},
	}
	var out bytes.Buffer
	report := func() {
		Summary(&out, &result, 79)
		Table(&out, &result, table.StyleLight)
	}
	report()
	result.SSD = &replay.SSD{Admission: "all"} // off, and nothing happened
	report()
	path := filepath.Join("testdata", "ssd_table.txt")
	if *update {
		if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if out.String() != string(want) {
		t.Errorf("got\n%s\nwant\n%s", &out, want)
	}
}

func TestLatency(t *testing.T) {
	t.Parallel()
	for ns, want := range map[int64]string{0: "0s", 7: "7ns", 123: "123ns", 1234: "1.23µs", 98_765: "98.8µs", 1_234_567_890: "1.23s"} {
		if got := latency(ns); got != want {
			t.Errorf("%d: got %s, want %s", ns, got, want)
		}
	}
}
