package mutations

// ramTier are the guards of the RAM tier's writers.
var ramTier = []mutation{{
	guard: "a write invalidates the copy in the lower tier",
	file:  "internal/ram/entries.go",
	old:   "lower.Invalidate(hash)",
	pkg:   "./internal/ram", test: "TestLowerModel", quick: true,
}, {
	guard: "a promotion asks whether the copy is current",
	file:  "internal/ram/promote.go",
	old:   "return t.lower.IsCurrent(r.hash, token)",
	new:   "return true",
	pkg:   "./internal/ram", test: "TestPromoteIsOvertaken", quick: true,
}, {
	guard: "a promotion asks again when it has waited for a segment",
	file:  "internal/ram/promote.go",
	old:   "for s.promotable(r, token) {",
	new:   "for ok := s.promotable(r, token); ok; {",
	pkg:   "./internal/ram", test: "TestPromoteIsOvertaken",
}, {
	guard: "a promoted record is known to have a copy in the lower tier",
	file:  "internal/ram/promote.go",
	old:   "r.version, r.promoted, r.waited = wasRead|lowerCopy,",
	new:   "r.version, r.promoted, r.waited = wasRead,",
	pkg:   "./internal/ram", test: "TestLowerModel",
}, {
	guard: "a load stores nothing if its key was written meanwhile",
	file:  "internal/ram/set.go",
	old:   "if r.watch != nil && r.watch.Voided() {",
	new:   "if false {",
	pkg:   "./internal/ram", test: "TestWatch",
}, {
	guard: "Clear counts as a write of every key",
	file:  "internal/ram/watch.go",
	old:   "for t.few != nil {",
	new:   "for false {",
	pkg:   "./internal/ram", test: "TestWatchDuringClear",
}, {
	guard: "no more segments are in use than the budget has",
	file:  "internal/ram/pool.go",
	old:   "for taken < n && p.used < limit {",
	new:   "for taken < n {",
	pkg:   "./internal/ram", test: "TestModel",
}, {
	guard: "a write that waits for the lower tier gives its segments back",
	file:  "internal/ram/acquire.go",
	old:   "err == errLowerBusy && !r.promoted:\n\t\tt.standBack(s, r, got, ev)\n",
	new:   "err == errLowerBusy && !r.promoted:\n",
	pkg:   "./internal/ram", test: "TestLargeWritesWaitTogether",
}, {
	guard: "a write that waits for another's segments gives back its own",
	file:  "internal/ram/acquire.go",
	old:   "\t\tcase r.claim.held:\n\t\t\tr.claim.all = true\n",
	new:   "\t\tcase false:\n",
	pkg:   "./internal/ram", test: "TestWriteWithoutRoomEnds",
}, {
	guard: "a write in place tells OnEvict of what it replaces",
	file:  "internal/ram/set.go",
	old:   "s.evicted != nil || ",
	pkg:   "./internal/ram", test: "TestFastAndSlow", quick: true,
}, {
	guard: "a write in place ends the watches of its key",
	file:  "internal/ram/set.go",
	old:   "!s.watches.none() || ",
	pkg:   "./internal/ram", test: "TestWatch",
}, {
	guard: "a write in place invalidates the copy in the lower tier",
	file:  "internal/ram/set.go",
	old:   " || copied && s.tier.lower != nil",
	pkg:   "./internal/ram", test: "TestFastAndSlow",
}, {
	guard: "an expired record takes its copy on the SSD along where both would be told",
	file:  "internal/ram/entries.go",
	old:   "if s.tier.Tells(LowerEvicted) &&",
	new:   "if false &&",
	pkg:   ".", test: "TestFault24Model",
}, {
	guard: "what leaves the SSD has not left the cache if RAM has it",
	file:  "internal/ram/evict_lower.go",
	old:   "; here {",
	new:   "; here && false {",
	pkg:   ".", test: "TestFault24Model", quick: true,
}, {
	guard: "nobody is told of what leaves the SSD during Close",
	file:  "internal/tiered/evictions.go",
	old:   " && !e.closing.Load()",
	pkg:   ".", test: "TestOnEvictOfSSDMayClose",
}, {
	guard: "no segment is reclaimed while OnEvict is told of another",
	file:  "internal/ssd/reclaim.go",
	old:   " || t.work.telling.Load() && t.tells()",
	pkg:   ".", test: "TestOnEvictOfSSDHoldsReclaiming",
}, {
	guard: "the tiers do not hold on to a cache whose listeners they tell",
	file:  "listeners.go",
	old:   "		if c := w.Value(); c != nil {\n",
	new:   "		if c != nil {\n",
	pkg:   ".", test: "TestListenersLetCacheGo",
}, {
	guard: "a write in place tells the sweep of its deadline",
	file:  "internal/ram/set.go",
	old:   "\t\ts.noteDeadline(off, deadline)\n",
	pkg:   "./internal/ram", test: "TestModel",
}, {
	guard: "a record of several pieces is not overwritten in place",
	file:  "internal/ram/set.go",
	old:   "!shape.Long() && s.tier.whole(off, size)",
	new:   "!shape.Long()",
	pkg:   "./internal/ram", test: "TestOverwriteInPlace",
}, {
	guard: "a record that goes down in parts is not overwritten in place",
	file:  "internal/ram/set.go",
	old:   " && s.demotions.at(off) == nil",
	pkg:   "./internal/ram", test: "TestOverwriteBetweenParts",
}, {
	guard: "Clear grows the epoch before the index's memory is used anew",
	file:  "internal/ram/clear.go",
	old:   "\ts.epoch.Add(1)",
	new:   "\t",
	pkg:   "./internal/ram", test: "TestClearGrowsTheEpoch",
}, {
	guard: "a step of Clear counts the buckets that the index loses",
	file:  "internal/ram/clear.go",
	old:   "\t\t\ts.work.records++",
	new:   "\t\t\t",
	pkg:   "./internal/ram", test: "TestClearShrinksIndexInSteps",
}, {
	guard: "SetBytes gives back what Clear has yet to give back",
	file:  "internal/ram/resize.go",
	old:   "\t\tt.shards[i].buryAll()\n",
	new:   "\t\t_ = i\n",
	pkg:   "./internal/ram", test: "TestSetBytesDuringClear",
}, {
	guard: "a step ends when its records are too much",
	file:  "internal/ram/walk.go",
	old:   "if i > 0 && s.stepExceeded() {\n\t\t\treturn rec.off, true",
	new:   "if false {\n\t\t\treturn rec.off, true",
	pkg:   "./internal/ram", test: "TestLocksAreHeldForAStep",
}, {
	guard: "a step through the index ends when its records are too much",
	file:  "internal/ram/walk.go",
	old:   "if i > 0 && p.Position > found[i-1].Position && s.stepExceeded() {",
	new:   "if i < 0 {",
	pkg:   "./internal/ram", test: "TestLocksAreHeldForAStep",
}, {
	guard: "Clear gives segments back in steps",
	file:  "internal/ram/clear.go",
	old:   "for !s.stepDone() {",
	new:   "for {",
	pkg:   "./internal/ram", test: "TestLocksAreHeldForAStep",
}, {
	guard: "a walk ends when its segment is released",
	file:  "internal/ram/log.go",
	old:   "\t\tif w.id == id {\n\t\t\tw.id = 0\n",
	new:   "\t\tif w.id == id {\n",
	pkg:   "./internal/ram", test: "TestWalkEndsWithItsSegment",
}, {
	guard: "a sweep heeds the deadlines of what is stored between its steps",
	file:  "internal/ram/log.go",
	old:   "\t\t\tw.note(end)\n",
	pkg:   "./internal/ram", test: "TestDeadlineBetweenStepsOfSweep",
}, {
	guard: "a write that lacks room takes what Clear has yet to give back",
	file:  "internal/ram/reclaim.go",
	old:   "case s.dead.head != 0:",
	new:   "case false:",
	pkg:   "./internal/ram", test: "TestWhileClearGivesBack",
}, {
	guard: "a sweep leaves what Clear has emptied alone",
	file:  "internal/ram/sweep.go",
	old:   "|| s.dead.head != 0 ",
	pkg:   "./internal/ram", test: "TestWhileClearGivesBack",
}}
