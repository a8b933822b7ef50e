package mutations

// batches are the guards of GetMulti, whose lookups take the steps of a reader in
// stages.
var batches = []mutation{{
	guard: "a lookup of a batch that found nothing compares the shape of the index",
	file:  "internal/ram/get_multi.go",
	old:   " || s.table.Shape() != l.shape[j] {",
	new:   " {",
	pkg:   "./internal/ram", test: "TestGetMultiWhileEntriesMove",
}, {
	guard: "a lookup of a batch that found nothing compares the epoch",
	file:  "internal/ram/get_multi.go",
	old:   "if s.epoch.Load() != l.epoch[j] || ",
	new:   "if ",
	pkg:   "./internal/ram", test: "TestGetMultiNoticesReuse",
}, {
	guard: "a lookup of a batch compares version and location after the copy",
	file:  "internal/ram/get_multi.go",
	old:   "if !t.shardOf(hash).unchanged(l.epoch[j], bucket, slot, l.loc[j], h, version) {",
	new:   "if version&1 != 0 || t.shardOf(hash).epoch.Load() != l.epoch[j] {",
	pkg:   "./internal/ram", test: "TestGetMultiBetweenStages", quick: true,
}, {
	guard: "a lookup of a batch compares with the epoch from before it read the bucket",
	file:  "internal/ram/get_multi.go",
	old:   ".unchanged(l.epoch[j], ",
	new:   ".unchanged(t.shardOf(hash).epoch.Load(), ",
	pkg:   "./internal/ram", test: "TestGetMultiNoticesReuse",
}, {
	guard: "a lookup of a batch takes no location beyond the segments",
	file:  "internal/ram/get_multi.go",
	old:   "if off-1 >= t.ghostAt-1 {",
	new:   "if off == 0 {",
	pkg:   "./internal/ram", test: "TestGetMultiAmongGarbage",
}, {
	guard: "a lookup of a batch compares the key",
	file:  "internal/ram/get_multi.go",
	old:   " || !t.region.Equal(from, key) {",
	new:   " {",
	pkg:   "./internal/ram", test: "TestGetMultiIsGet",
}, {
	guard: "a lookup of a batch compares the deadline with the time",
	file:  "internal/ram/get_multi.go",
	old:   "; t.clock.expired(deadline) {",
	new:   "; false {",
	pkg:   "./internal/ram", test: "TestGetMultiIsGet",
}, {
	guard: "a batch leaves long records to Get",
	file:  "internal/ram/get_multi.go",
	old:   "if sh.Long() || ",
	new:   "if ",
	pkg:   "./internal/ram", test: "TestGetMultiIsGet",
}, {
	guard: "a batch leaves straddling records to Get",
	file:  "internal/ram/get_multi.go",
	old:   "!t.whole(off, from-off+uint64(len(key)+n)) || ",
	pkg:   "./internal/ram", test: "TestGetMultiIsGet",
}, {
	guard: "a batch searches the second bucket of a chain",
	file:  "internal/ram/get_multi.go",
	old:   "} else if bucket.Linked() {\n\t\t\tt.link(",
	new:   "} else if false {\n\t\t\tt.link(",
	pkg:   "./internal/ram", test: "TestGetMultiIsGet",
}, {
	guard: "a batch leaves a third bucket to Get",
	file:  "internal/ram/get_multi.go",
	old:   "} else if bucket.Linked() {\n\t\t\tl.record[j] = unclear",
	new:   "} else if false {\n\t\t\tl.record[j] = unclear",
	pkg:   "./internal/ram", test: "TestGetMultiIsGet",
}, {
	guard: "a batch tells the policy of hits of sampled keys",
	file:  "internal/ram/get_multi.go",
	old:   "t.observeSampled(hash, key, len(v)-start, deadline)",
	pkg:   "./internal/ram", test: "TestGetMultiTellsThePolicy",
}}
