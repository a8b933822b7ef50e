package report

import (
	"regexp"

	"github.com/firncache/firn/bench/chart"
)

const mops = "million operations / s"

// specs are the charts of the report, in the order in which they appear.
var specs = []spec{
	{id: "op", suite: usersSuite, name: regexp.MustCompile(`^(?P<facet>[a-z]+/(?:bytes|objects))/op$`), title: "Workloads: {facet}", unit: mops, rate: 1000},
	{id: "slow", suite: usersSuite, name: regexp.MustCompile(`^(?P<facet>[a-z]+/(?:bytes|objects))/p99\.9$`), title: "The time below which 99.9 % stay: {facet}", unit: "ns", logX: true},

	{id: "get", suite: "classic", name: regexp.MustCompile(`^(?P<facet>Get|Set|SetGet)/items=`), title: "{facet} of 65,536 items, GOMAXPROCS 4", unit: mops, rate: 1000},
	{id: "big", suite: "classic", name: regexp.MustCompile(`^big-(?P<facet>set|get)/value=(?P<x>\d+)`), title: "Large values: {facet}", xLabel: "bytes of a value", unit: "MB / s", logX: true, logY: true, ticks: sizeTicks},
	{id: "big-readable", suite: "classic", name: regexp.MustCompile(`^big-readable/value=(?P<x>\d+)`), title: "Large values that half fill a cache and can be read back", xLabel: "bytes of a value", unit: "%", logX: true, ticks: sizeTicks},

	{id: "threads", suite: "ram", name: regexp.MustCompile(`^(?P<facet>(?:get|mix|set)/(?:zipf|uniform))/n=\d+/value=64/goroutines=(?P<x>\d+)$`), title: "Throughput by goroutines: {facet}", xLabel: "goroutines", unit: mops, rate: 1000, logX: true, ticks: goroutineTicks, orNothing: true, main: "get/zipf"},
	{id: "all", suite: "ram", name: regexp.MustCompile(`^(?P<facet>(?:get|mix|set)/(?:zipf|absent))/n=\d+/value=64/goroutines=2$`), title: "Every cache: {facet}, 2 goroutines", unit: mops, rate: 1000},
	{id: "batch", suite: "ram", name: regexp.MustCompile(`^(?P<facet>(?:get|set)batch/(?:zipf|uniform))/n=\d+/value=64/goroutines=1$`), title: "32 keys at once beside one at a time: {facet}, 1 goroutine", unit: mops, rate: 1000},
	{id: "growth", suite: "ram", name: regexp.MustCompile(`^(?:growth/)?(?P<facet>(?:get|mix|set)/zipf)/n=(?P<x>\d+)/value=64/goroutines=2$`), title: "Throughput by number of entries: {facet}, 2 goroutines", xLabel: "entries", unit: mops, rate: 1000, logX: true, orNothing: true, main: "get/zipf"},
	{id: "latency-get", suite: "ram", name: regexp.MustCompile(`^latency/get/zipf/.*/goroutines=1/(?P<x>p[0-9.]+|max)$`), title: "Latency: Get of zipf keys, 1 goroutine", xLabel: "percentile of single calls, clock included", unit: "ns", logY: true, ticks: percentiles, most: 8},
	{id: "latency-mix", suite: "ram", name: regexp.MustCompile(`^latency/mix/zipf/.*/goroutines=64/(?P<x>p[0-9.]+|max)$`), title: "Latency: 95 % Get, 5 % Set of zipf keys, 64 goroutines", xLabel: "percentile of single calls, clock included", unit: "ns", logY: true, ticks: percentiles, most: 8, main: "*"},

	{id: "2g", suite: "large", name: regexp.MustCompile(`^(?P<facet>(?:get|mix|set)/(?:zipf|uniform))/n=\d+/value=1024/goroutines=2$`), title: "Values of 1 KiB: {facet}, 2 goroutines", unit: mops, rate: 1000},
	{id: "readable", suite: "large", name: regexp.MustCompile(`^readable/value=(?P<facet>\d+)$`), title: "Values of {facet} bytes that half fill 32 MB and can be read back", unit: "%"},

	{id: "overhead", suite: "memory", name: regexp.MustCompile(`^overhead/`), title: "Memory per entry beyond key and value", unit: "bytes", main: "*"},
	{id: "forced-gc", suite: "memory", name: regexp.MustCompile(`^forced-gc/`), title: "One forced collection, above an empty process", unit: "ms", logX: true},
	{id: "gc-share", suite: "memory", name: regexp.MustCompile(`^gc-share/`), title: "The collector's share of all processors beside an allocating load", unit: "%"},
	{id: "slowest-set", suite: "memory", name: regexp.MustCompile(`^slowest-set/`), title: "Slowest single Set of a round while entries churn", unit: "ms", logX: true, worst: true},

	{id: "cycle", suite: "gc", name: regexp.MustCompile(`^cycle/`), title: "Length of a collection", unit: "ms", logX: true},
	{id: "share", suite: "gc", name: regexp.MustCompile(`^gc-share/`), title: "The collector's share of all processors beside a request loop", unit: "%", main: "*"},
	{id: "pause", suite: "gc", name: regexp.MustCompile(`^pause-max/`), title: "Longest pause of the world", unit: "ms", logX: true},
	{id: "request", suite: "gc", name: regexp.MustCompile(`^request/.*/(?P<x>p[0-9.]+|max)$`), title: "An allocating request beside the data", xLabel: "percentile of requests", unit: "µs", logY: true, ticks: percentiles, most: 9},

	{id: "mean", suite: "hitratio", name: regexp.MustCompile(`^mean-miss-ratio$`), title: "Mean miss ratio over traces and sizes (less is better)", unit: "%", main: "*"},
	{id: "trace", suite: "hitratio", name: regexp.MustCompile(`^hit-ratio/trace=(?P<facet>[^/]+)/size=(?P<x>[0-9.]+)$`), title: "Hit ratio by cache size: {facet}", xLabel: "% of the working set's bytes, bookkeeping included", unit: "hits, %", logX: true, ticks: shareTicks},

	{id: "get", suite: "hybrid", name: regexp.MustCompile(`^(?P<facet>(?:get|mix|set)/(?:zipf|uniform)/times=[0-9.]+)/.*/inflight=(?P<x>\d+)$`), title: "On disk: {facet} the memory", xLabel: "requests in flight", unit: "thousand operations / s", logX: true, logY: true, rate: 1e6, ticks: goroutineTicks, orNothing: true, main: "get/uniform/times=5"},
	{id: "eight", suite: "hybrid", name: regexp.MustCompile(`^(?P<facet>(?:get|mix|set)/(?:zipf|uniform)/times=[0-9.]+)/.*/inflight=8$`), title: "On disk: {facet} the memory, 8 in flight", unit: "thousand operations / s", rate: 1e6},
	{id: "device", suite: "hybrid", name: regexp.MustCompile(`^device-read/inflight=(?P<x>\d+)$`), title: "The disk itself: random direct reads of 4 KiB", xLabel: "requests in flight", unit: "thousand reads / s", logX: true, logY: true, rate: 1e6, ticks: goroutineTicks},
	{id: "share", suite: "hybrid", name: regexp.MustCompile(`^device-share/(?P<facet>times=\d+)/inflight=(?P<x>\d+)$`), title: "Gets of uniform keys, data {facet} the memory, beside reads of the disk itself", xLabel: "requests in flight", unit: "%", logX: true, ticks: goroutineTicks, orNothing: true},
	{id: "written", suite: "hybrid", name: regexp.MustCompile(`^written/(?P<facet>load.*|set.*)$`), title: "Bytes written to the device per byte of user data: {facet}", unit: "bytes / byte", logX: true, main: "set/uniform/times=5"},
	{id: "read", suite: "hybrid", name: regexp.MustCompile(`^read/(?P<facet>get.*)$`), title: "Bytes read from the device per operation: {facet}", unit: "bytes", logX: true},
	{id: "restart", suite: "hybrid", name: regexp.MustCompile(`^restart/(?P<facet>.*)$`), title: "Until 100 entries have been read after {facet}", unit: "seconds", logX: true},
	{id: "open", suite: "hybrid", name: regexp.MustCompile(`^restart-open/(?P<facet>.*)$`), title: "Until Open returns after {facet}", unit: "seconds", logX: true},
	{id: "faster", suite: "hybrid", name: regexp.MustCompile(`^faster/(?P<facet>read|write|mixed)/goroutines=(?P<x>\d+)$`), title: "FasterKvCache's table, {facet}: 1,000 keys", xLabel: "goroutines", unit: "µs / 1,000 operations", logX: true, logY: true, ticks: goroutineTicks},

	{id: "op", suite: "shared", name: regexp.MustCompile(`^(?P<facet>hit|fetch|load|set|fetchbatch|setbatch)/goroutines=(?P<x>\d+)$`), title: "Above a shared server: {facet}", xLabel: "goroutines", unit: "ns / op", logX: true, logY: true, ticks: goroutineTicks},
	{id: "feed", suite: "shared", name: regexp.MustCompile(`^(?P<facet>feed)/subscribers=(?P<x>\d+)$`), title: "A SET announced to caches that listen", xLabel: "caches", unit: "ns / SET", logY: true},

	{id: "readall", suite: "bufpool", name: regexp.MustCompile(`^readall/source=(?P<facet>[a-z]+)/size=(?P<x>\d+)/goroutines=1$`), title: "Reading a stream to its end: {facet}, 1 goroutine", xLabel: "bytes of the stream", unit: "ns / stream", logX: true, logY: true},

	{id: "case", suite: "casestudies", name: regexp.MustCompile(`^(?P<facet>[a-z0-9-]+)$`), title: "{facet}", unit: "ns", logX: true},
}

var sizeTicks = []chart.Tick{{At: 64 << 10, Label: "64k"}, {At: 128 << 10, Label: "128k"}, {At: 256 << 10, Label: "256k"}, {At: 512 << 10, Label: "512k"}, {At: 1 << 20, Label: "1M"}}

var shareTicks = []chart.Tick{{At: 0.1, Label: "0.1"}, {At: 1, Label: "1"}, {At: 5, Label: "5"}, {At: 10, Label: "10"}, {At: 20, Label: "20"}}
