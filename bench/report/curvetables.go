package report

// The table of the suite curve.
var curveErrors = table{
	suite: "curve", question: "How far off is the curve?", text: "In points of the miss ratio, on whole traces: caches of 1, 5, 10 and 20 % of the bytes say what others would miss. Predictions have 1,000 keys of the sample behind them, or fewer where that is said, and are valid. Simulation: in 1 MiB, beside a cache without data; Cache.Curve: of a cache at work, in a hundredth of its memory, with 20,000 requests a second. [Simulation](img/curve-policy.svg) and [Cache.Curve](img/curve-cache.svg) by trace.",
	rows: []part{
		named("Simulation, ½, 2 and 4 times the size", "policy/near"), named("¼ and 8", "policy/far"), named("½, 2 and 4, fewer keys", "policy/few"),
		named("Cache.Curve, ½, 2 and 4 times", "cache/near"), named("¼ and 8", "cache/far"), named("½, 2 and 4, fewer keys", "cache/few"),
	},
	columns: []part{
		named("predictions", "cells"), named("mean error", "mean"), named("95 % are below", "p95"), named("worst", "most"), named("bias", "bias"), named("truth within the error bar", "within"),
	},
	byName: true,
}
