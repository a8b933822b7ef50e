package report

// curveTargets is the table of the curve.
var curveTargets = table{
	suite: "curve", question: "How far off is Cache.Curve?", text: "Caches of 5 and 10 % of the bytes of a load of up to 1.2 M requests, with a hundredth of that for the simulation, and so none below 6.3 MiB, say at ten moments, at even distances but for the first, what ½, 2 and 4 times the size would miss. The truth is the mean of two to four caches of that size over the same requests, those of the printed window. Steady: the first of a trace; then: one trace, and then another; day: the other comes as the one goes, and back, twice; scan: from half on each second request is of a new key; deploy: from half on all keys have other names. Errors are in points of the miss ratio. Gains: of twice the size, more than ± beyond the truth. Late: after 1 M requests.",
	rows: []part{
		named("steady", "targets/steady"), named("changing", "targets/changing"), named("then", "targets/then"), named("day", "targets/day"), named("scan", "targets/scan"), named("deploy", "targets/deploy"),
	},
	columns: []part{
		named("predictions", "points"), named("truth within ±", "within"), named("mean error", "mean"), named("95 % are below", "p95"), named("worst", "most"), named("median ±", "bar"),
		named("valid", "valid"), named("late", "late"), named("gains", "gains"), named("within, whole load", "whole-within"), named("mean, whole load", "whole-mean"),
	},
	byName: true,
}
