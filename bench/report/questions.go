package report

import (
	"slices"

	"github.com/firncache/firn/bench/users"
)

const intro = `# Benchmarks

Made by a program: in bench, ` + "`go run . -suite NAME -out results && go run . report -in results -doc ../docs/BENCHMARKS.md -svg ../docs/img`" + ` measures a suite and replaces its figures here. [bench](bench) keeps the medians and quartiles that the tables are made of; results/report.html has every figure. bufpool: [RESULTS.md](../bench/streams/RESULTS.md). The collector's trace, io.ReadAll, growing slices, 1,000 keys beside SQLite: [tables.md](bench/tables.md).

- **Times** are medians. Behind a rival's: how many times as many operations a second firn did, with the quartiles where they are more than a fifth apart; firn's time is that of its turns beside all rivals. **Bold: firn is slower.**
- **Two caches take 8 turns each in one process**, or all of a workload, each in its own, with the same keys in the same order. A ratio is of neighbouring turns, and steadier than a time.
- **The collector is off during turns**, which favours caches that allocate; under *What users feel* it is at work. All entries fit, with half as much to spare; of a cache that drops some, the hits are given.
- 10 million entries of 16 + 64 bytes, unless said otherwise; zipf has the exponent 0.99; g is goroutines.

`

// titles head the sections.
var titles = map[string]string{
	"shared": "Shared tier",
	"users":  "What users feel", "classic": "fastcache's own benchmark", "ram": "RAM", "large": "Large values", "memory": "Memory", "gc": "The garbage collector", "hitratio": "Hit ratios", "hybrid": "SSD",
	"curve": "The curve of other sizes",
}

// sizes of a cell of the suites ram and large.
const (
	small = `/n=\d+/value=64/goroutines=`
	large = `/n=\d+/value=1024/goroutines=`
)

// peers are those that every cell is measured beside.
var peers = caches("firn", "fastcache", "otter", "xsync")

// tables are the questions of the document, in its order.
var tables = slices.Concat(usersTables(users.Bytes), usersTables(users.Objects), suiteTables)

var suiteTables = []table{
	{
		suite: "classic", question: "How fast are 65,536 entries of 4 + 4 bytes?",
		text:    "Four goroutines at GOMAXPROCS=4; every value is compared. In bench, `go test -run '^$' -bench Classic -cpu 4` has MB/s, and the bytes and allocations of a pass over all entries.",
		rows:    caches("firn", "fastcache", "freecache", "bigcache", "otter", "theine", "ristretto", "go-cache", "xsync", "sync.Map", "map", "map-fixed"),
		columns: []part{named("Get", "Get/.*"), named("Set", "Set/.*"), named("Set, then Get", "SetGet/.*")}, byCache: true,
	},
	{
		suite: "ram", question: "How long does a call take?", chart: "ram-threads-get-zipf", text: "GetMulti and SetMulti of 32, a key, beside single calls.",
		rows: []part{
			named("Get, zipf, 1 g", "get/zipf"+small+"1"), named("Get, zipf, 2 g", "get/zipf"+small+"2"), named("Get, zipf, 64 g", "get/zipf"+small+"64"), named("Get, uniform, 2 g", "get/uniform"+small+"2"),
			named("Get, absent key, 2 g", "get/absent"+small+"2"), named("Set, zipf, 2 g", "set/zipf"+small+"2"), named("Set, uniform, 1 g", "set/uniform"+small+"1"), named("Set, uniform, 2 g", "set/uniform"+small+"2"),
			named("95 % Get, 5 % Set, zipf, 2 g", "mix/zipf"+small+"2"), named("the same, 64 g", "mix/zipf"+small+"64"),
			named("GetMulti, uniform, 1 g", "getbatch/uniform"+small+"1"), named("SetMulti, uniform, 1 g", "setbatch/uniform"+small+"1"),
		},
		columns: peers,
	},
	{
		suite: "ram", question: "And beside others?", text: "Zipf, 2 g.",
		rows:    caches("bigcache", "freecache", "ristretto", "theine", "sync.Map", "go-cache", "map", "map-fixed"),
		columns: []part{named("Get", "get/zipf"+small+"2"), named("Set", "set/zipf"+small+"2")}, byCache: true,
	},
	{
		suite: "ram", question: "How long do the slowest calls take?", chart: "ram-latency-mix", text: "Single calls, the clock included; max with 64 g is the scheduler's.",
		rows: []part{
			named("Get, zipf, 1 g, p99.9", "latency/get/zipf"+small+"1/p99.9"), named("the same, max", "latency/get/zipf"+small+"1/max"),
			named("95 % Get, zipf, 64 g, p99.9", "latency/mix/zipf"+small+"64/p99.9"), named("the same, max", "latency/mix/zipf"+small+"64/max"),
		},
		columns: peers,
	},
	{
		suite: "ram", question: "What does the number of entries change?", chart: "ram-growth-get-zipf", text: "Zipf, 2 g.",
		rows: []part{
			named("Get, 100,000 entries", "growth/get/zipf/n=100000/.*"), named("Get, 50 million", "growth/get/zipf/n=50000000/.*"),
		},
		columns: peers,
	},
	{
		suite: "large", question: "And values of 1 KiB?", text: "A million of them. Caches on the heap lend the stored slice; firn and fastcache copy it.",
		rows: []part{
			named("Get, zipf, 2 g", "get/zipf"+large+"2"), named("Get, absent key, 2 g", "get/absent"+large+"2"), named("95 % Get, zipf, 2 g", "mix/zipf"+large+"2"), named("Set, zipf, 2 g", "set/zipf"+large+"2"),
			named("Set, uniform, 1 g", "set/uniform"+large+"1"), named("GetMulti, uniform, 1 g", "getbatch/uniform"+large+"1"),
		},
		columns: caches("firn", "fastcache", "otter", "xsync", "go-cache"),
	},
	{
		suite: "large", question: "How many large values that half fill 32 MiB can be read back?", text: "In others than these, all.",
		rows:    caches("firn", "fastcache", "bigcache", "freecache"),
		columns: []part{named("300 KB", "readable/value=307200"), named("1 MB", "readable/value=1048576")}, byCache: true,
	},
	{
		suite: "memory", question: "What does a cache cost the program?", chart: "memory-overhead", text: "Slowest Set: of new entries into a full cache, the median of five rounds; of nothing: between two readings of the clock.",
		rows: caches("firn", "fastcache", "otter", "xsync", "bigcache", "freecache", "ristretto", "theine", "sync.Map", "go-cache", "map", "map-fixed"),
		columns: []part{
			named("an entry, beyond key and value", "overhead/.*"), named("forced GC, above an empty process", "forced-gc/.*"), named("GC beside an allocating load", "gc-share/.*"),
			named("slowest Set", "slowest-set/.*"), named("slowest of nothing", "slowest-nothing/.*"),
		},
		byCache: true,
	},
	{
		suite: "gc", question: "What do 10 million entries do to the collector, and to requests beside it?", chart: "gc-share",
		rows:    caches("nothing", "firn", "fastcache", "bigcache", "freecache", "ristretto", "otter", "xsync", "sync.Map", "go-cache", "map-of-strings", "map-of-structs"),
		columns: []part{named("a collection", "cycle/.*"), named("share of the processors", "gc-share/.*"), named("request, p99", "request/.*/p99"), named("p99.9", "request/.*/p99\\.9")}, byCache: true,
	},
	{
		suite: "hitratio", question: "What is missed, on average over the traces and sizes?", chart: "hitratio-mean", text: "All have the same bytes, bookkeeping included. Caches: firn, otter, theine, ristretto; the others are simulated, and Belady's is the bound. See [EVICTION.md](internals/EVICTION.md).",
		rows:    caches("Belady", "firn", "S3-FIFO", "ARC", "2Q", "otter", "theine", "LRU", "FIFO", "ristretto"),
		columns: []part{named("misses", "mean-miss-ratio")}, byCache: true,
	},
	curveTargets,
	{
		suite: "hybrid", question: "How long does an operation take with five times as much data as memory?", chart: "hybrid-get-get-uniform-times-5", text: "10 million entries of 16 + 256 bytes; a control group limits memory, page cache included. The stores do not take turns, so ratios have no interval.",
		rows: []part{
			named("Get, zipf, 1 in flight", "get/zipf/times=5/.*/inflight=1"), named("8", "get/zipf/times=5/.*/inflight=8"), named("64", "get/zipf/times=5/.*/inflight=64"),
			named("Get, uniform, 1", "get/uniform/times=5/.*/inflight=1"), named("8", "get/uniform/times=5/.*/inflight=8"), named("64", "get/uniform/times=5/.*/inflight=64"),
			named("95 % Get, uniform, 64", "mix/uniform/times=5/.*/inflight=64"),
			named("Set, zipf, 8", "set/zipf/times=5/.*/inflight=8"), named("Set, uniform, 1", "set/uniform/times=5/.*/inflight=1"), named("8", "set/uniform/times=5/.*/inflight=8"), named("64", "set/uniform/times=5/.*/inflight=64"),
		},
		columns: caches("firn", "pebble", "badger"),
	},
	{
		suite: "hybrid", question: "What is written to the device for each byte?", chart: "hybrid-written-set-uniform-times-5",
		rows:    []part{named("Load", "written/load/value=256"), named("Set, zipf", "written/set/zipf/times=5"), named("Set, uniform", "written/set/uniform/times=5")},
		columns: caches("firn", "pebble", "badger", "bbolt"),
	},
	{
		suite: "hybrid", question: "How long until 100 entries have been read after Open?",
		rows: []part{
			named("1 GB, closed", "restart/close/size=1024MB"), named("1 GB, killed", "restart/kill/size=1024MB"), named("10 GB, closed", "restart/close/size=10240MB"), named("10 GB, killed", "restart/kill/size=10240MB"),
		},
		columns: caches("firn", "pebble", "badger", "bbolt"),
	},
	{
		suite: "hybrid", question: "And a table of 4 MB in 2 MB of memory?", text: "FasterKvCache's: 1,000 keys, half of the operations on 50 of them, 4 g. A thousand operations; the page cache helps those who use it.",
		rows:    []part{named("read", "faster/read/goroutines=4"), named("write", "faster/write/goroutines=4"), named("mixed", "faster/mixed/goroutines=4")},
		columns: caches("firn", "pebble", "badger", "bbolt", "sqlite"),
	},
	{
		suite: "shared", question: "How long does an operation take above a server that processes share?", text: "The server is on the same machine, by TCP. Fetch: another client has just written the value. Load: it is nowhere. Of 32: a key of a batch. go-redis/cache is not told of others' writes.",
		rows: []part{
			named("Hit, 1 g", "hit/goroutines=1"), named("Hit, 2 g", "hit/goroutines=2"), named("Fetch, 1 g", "fetch/goroutines=1"), named("Fetch, 64 g", "fetch/goroutines=64"),
			named("Load, 1 g", "load/goroutines=1"), named("Load, 64 g", "load/goroutines=64"), named("Set, 1 g", "set/goroutines=1"), named("Set, 64 g", "set/goroutines=64"),
			named("Fetch of 32, 1 g", "fetchbatch/goroutines=1"), named("Fetch of 32, 64 g", "fetchbatch/goroutines=64"), named("Set of 32, 1 g", "setbatch/goroutines=1"), named("Set of 32, 64 g", "setbatch/goroutines=64"),
		},
		columns: caches("firn", "rueidis", "go-redis", "go-redis/cache"),
	},
	{
		suite: "shared", question: "What do caches that listen cost a writer?", text: "SETs of a client without a cache, 64 g, announced to so many caches on the same machine.",
		rows:    []part{named("none", "feed/subscribers=0"), named("1 cache", "feed/subscribers=1"), named("8", "feed/subscribers=8"), named("64", "feed/subscribers=64")},
		columns: caches("firn"),
	},
}
