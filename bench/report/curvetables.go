package report

// The tables of the curve: of a test of the engine, and of the suite curve.
var curveWindows = table{
	suite: "curve", question: "How far off is the curve?", text: "16 traces, up to their first 1.2 M requests, in caches of 5 and 10 % of the bytes, which say ten times, at even distances, what ½, 2 and 4 times the size would miss. The truth is the mean of three simulated caches of that size over the same requests, those of the printed window. Changing: one trace and then the next; one that comes as the other goes, and back; a scan after a trace. Errors are in points of the miss ratio.",
	rows: []part{named("1 MiB: as they are", "windows/whole"), named("changing", "windows/changing"), named("a hundredth of the cache: as they are", "windows/share"), named("changing", "windows/share-changing")},
	columns: []part{
		named("predictions", "cells"), named("truth within ±", "within"), named("mean error", "mean"), named("95 % are below", "p95"), named("worst", "most"), named("median ±", "bar"), named("valid", "valid"),
	},
	byName: true,
}

var curveErrors = table{
	suite: "curve", question: "And on whole traces?", text: "In points of the miss ratio, on whole traces: caches of 1, 5, 10 and 20 % of the bytes say what others would miss. Predictions have 1,000 keys of the sample behind them, or fewer where that is said, and are valid. Simulation: in 1 MiB, beside a cache without data; Cache.Curve: of a cache at work, in a hundredth of its memory, with 20,000 requests a second. [Simulation](img/curve-policy.svg) and [Cache.Curve](img/curve-cache.svg) by trace.",
	rows: []part{
		named("Simulation, ½, 2 and 4 times the size", "policy/near"), named("¼ and 8", "policy/far"), named("½, 2 and 4, fewer keys", "policy/few"),
		named("Cache.Curve, ½, 2 and 4 times", "cache/near"), named("¼ and 8", "cache/far"), named("½, 2 and 4, fewer keys", "cache/few"),
	},
	columns: []part{
		named("predictions", "cells"), named("mean error", "mean"), named("95 % are below", "p95"), named("worst", "most"), named("bias", "bias"), named("truth within the error bar", "within"),
	},
	byName: true,
}
