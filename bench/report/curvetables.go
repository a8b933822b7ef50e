package report

// The tables of the suites curve and curvecost.
var (
	curveErrors = table{
		suite: "curve", question: "How far off is the curve?", text: "In points of the miss ratio, on whole traces: caches of 1, 5, 10 and 20 % of the bytes say what others would miss. Predictions have 1,000 keys of the sample behind them, or fewer where that is said, and are valid. Simulation: in 1 MiB, beside a cache without data; Cache.Curve: of a cache at work, in a hundredth of its memory, with 20,000 requests a second. [Simulation](img/curve-policy.svg) and [Cache.Curve](img/curve-cache.svg) by trace.",
		rows: []part{
			named("Simulation, ½, 2 and 4 times the size", "policy/near"), named("½", "policy/half"), named("2", "policy/twice"), named("4", "policy/four"), named("¼ and 8", "policy/far"), named("½, 2 and 4, fewer keys", "policy/few"),
			named("Cache.Curve, ½, 2 and 4 times", "cache/near"), named("½", "cache/half"), named("2", "cache/twice"), named("4", "cache/four"), named("¼ and 8", "cache/far"), named("½, 2 and 4, fewer keys", "cache/few"),
		},
		columns: []part{
			named("predictions", "cells"), named("mean error", "mean"), named("95 % are below", "p95"), named("worst", "most"), named("bias", "bias"), named("truth within the error bar", "within"),
		},
		byName: true,
	}
	curveCalls = table{
		suite: "curvecost", question: "How long does a call take with the simulation?", text: "A million entries of 16 + 64 bytes, zipf; beside it a cache with WhatIfOff. GetMulti: a key of 32.",
		rows: []part{
			named("Get, 1 g", "get/zipf/.*/goroutines=1"), named("Get, 2 g", "get/zipf/.*/goroutines=2"), named("Get, 64 g", "get/zipf/.*/goroutines=64"),
			named("Get, absent key, 1 g", "get/absent/.*/goroutines=1"), named("2 g", "get/absent/.*/goroutines=2"), named("64 g", "get/absent/.*/goroutines=64"),
			named("GetMulti, 1 g", "getbatch/zipf/.*/goroutines=1"), named("2 g", "getbatch/zipf/.*/goroutines=2"), named("64 g", "getbatch/zipf/.*/goroutines=64"),
			named("Set, 1 g", "set/zipf/.*/goroutines=1"), named("2 g", "set/zipf/.*/goroutines=2"), named("64 g", "set/zipf/.*/goroutines=64"),
		},
		columns: []part{named("firn", "firn"), named("without the simulation", "firn-without")},
	}
	curveCosts = table{
		suite: "curvecost", question: "And the simulation itself?", text: "Full load: 2 g read uniform keys, of which the cache holds fewer than half, and store what is absent. Shares are of one processor.",
		rows: []part{
			named("time of a processor, at full load", "share/load/.*"), named("memory", "memory/.*"), named("allocations in 1,000 Gets", "allocations/.*"),
			named("the collector of the live page, no viewer", "share/viewers=0/.*"), named("1 viewer", "share/viewers=1/.*"), named("10 viewers", "share/viewers=10/.*"),
		},
		columns: caches("firn"),
	}
)
