package ram

// Layout is how a new tier of so many bytes is cut up, for planning: its shards,
// what a segment has and costs in bytes, its place in the tables included, and
// the unit in bytes to which the room of a record is rounded up.
func Layout(bytes int64) (shards, segmentBytes, segmentCost, unit int64) {
	g := plan(bytes, 0)
	return int64(g.shards), 1 << g.segShift, g.segmentCost(), 1 << g.unitShift
}

// MaxRecord is what [Tier.MaxRecord] says of a new tier of so many bytes of which
// the tier below uses lent.
func MaxRecord(bytes, lent int64) int64 {
	t := unreserved(&Config{Bytes: bytes}, plan(bytes, 0))
	t.lent.Store(lent)
	t.setLimit(bytes)
	return t.MaxRecord()
}
