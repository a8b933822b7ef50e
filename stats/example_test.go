package stats_test

import (
	"fmt"
	"time"

	"github.com/firncache/firn/stats"
)

func ExampleHistogram() {
	var h stats.Histogram // as Stats has it
	for _, d := range []time.Duration{90 * time.Microsecond, 95 * time.Microsecond, 3 * time.Millisecond} {
		h.Add(d)
	}
	fmt.Println(h.Count(), h.Sum(), h.Quantile(.5))
	for bound, count := range h.Buckets() {
		if count == h.Count() {
			fmt.Println("none took longer than", bound)
			break
		}
	}
	// Output:
	// 3 3.185ms 96µs
	// none took longer than 4.096ms
}

func ExampleHistogram_Sub() {
	var h stats.Histogram // as Stats has it
	h.Add(3 * time.Millisecond)
	before := h
	h.Add(90 * time.Microsecond)
	h.Add(95 * time.Microsecond)
	since := h.Sub(&before)
	fmt.Println(since.Count(), since.Sum(), since.Quantile(.99))
	// Output:
	// 2 185µs 96µs
}
