package ram

// Layout is how a new tier of so many bytes is cut up, for planning: its shards,
// and what a segment has and costs in bytes, its place in the tables included.
func Layout(bytes int64) (shards, segmentBytes, segmentCost int64) {
	g := plan(bytes, 0)
	t := Tier{segShift: g.segShift}
	return int64(g.shards), 1 << g.segShift, t.segmentCost()
}
