package replay

import (
	"bytes"
	"os"
	"runtime/metrics"
	"strconv"
)

// residentBytes returns the resident memory of this process, or Unknown where
// the system has no /proc.
func residentBytes() int64 {
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return Unknown
	}
	fields := bytes.Fields(statm)
	if len(fields) < 2 {
		return Unknown
	}
	pages, err := strconv.ParseInt(string(fields[1]), 10, 64)
	if err != nil {
		return Unknown
	}
	return pages * int64(os.Getpagesize())
}

// collector is a reading of the garbage collector's counters.
type collector struct {
	cycles     int64
	cpuSeconds float64 // as of the end of the last cycle
}

func readCollector() collector {
	samples := []metrics.Sample{
		{Name: "/gc/cycles/total:gc-cycles"},
		{Name: "/cpu/classes/gc/total:cpu-seconds"},
	}
	metrics.Read(samples)
	return collector{cycles: int64(samples[0].Value.Uint64()), cpuSeconds: samples[1].Value.Float64()}
}
