package mutations

// deadlines are the guards of what moves a deadline without its value.
var deadlines = []mutation{{
	guard: "a deadline that is moved changes the version",
	file:  "internal/ram/deadlines.go",
	old:   "(version+2)&^recordFlags|flags",
	new:   "version&^recordFlags|flags",
	pkg:   "./internal/ram", test: "TestTouchDuringRead", quick: true,
}, {
	guard: "an earlier deadline invalidates the copy in the lower tier",
	file:  "internal/ram/deadlines.go",
	old:   "case expiresSooner(deadline, was):",
	new:   "case false:",
	pkg:   "./internal/ram", test: "TestTouchOverCopy",
}, {
	guard: "a copy with an earlier deadline is not taken for the record",
	file:  "internal/ram/deadlines.go",
	old:   "flags |= olderCopy",
	pkg:   "./internal/ram", test: "TestTouchOverCopy",
}, {
	guard: "a record that goes down in parts is not touched in place",
	file:  "internal/ram/deadlines.go",
	old:   " && s.demotions.at(r.off) == nil",
	pkg:   "./internal/ram", test: "TestTouchBetweenParts",
}, {
	guard: "reads move even deadlines alone",
	file:  "internal/ram/slide.go",
	old:   " || deadline&1 != 0",
	pkg:   "./internal/ram", test: "TestSlidingModel",
}, {
	guard: "a read moves no deadline by a sixteenth or less",
	file:  "internal/ram/slide.go",
	old:   " || to-deadline <= t.slides.slack+1",
	pkg:   "./internal/ram", test: "TestSlidingModel",
}, {
	guard: "an older copy stays if its record is refused",
	file:  "internal/ssd/demote.go",
	old:   "if !found || copied == record.NoCopy {",
	new:   "if true {",
	pkg:   "./internal/ssd", test: "TestDemoteOverOlderCopy",
}, {
	guard: "a front ends with the deadline that a read is to move",
	file:  "typed_space.go",
	old:   "return max(deadline-t.cfg.slideLead, 4|deadline&3)",
	new:   "return deadline",
	pkg:   "./internal/tests/bytes", test: "TestExpireAfterAccess",
}, {
	guard: "a deadline slides up to the end of a value's life alone",
	file:  "internal/load/lifetimes.go",
	old:   "end != 0 && to >= end",
	new:   "false",
	pkg:   "./internal/tests/typed", test: "TestSlidingUpToATTL",
}, {
	guard: "an update keeps the end of a value's life",
	file:  "typed_tags.go",
	old:   "n > 0 || len(own) < len(value)",
	new:   "false",
	pkg:   "./internal/tests/typed", test: "TestSlidingUpToATTL",
}, {
	guard: "a namespace's grace is kept in RAM",
	file:  "internal/local/store.go",
	old:   "s.RAM.RaiseGrace(millis)",
	pkg:   "./internal/tests/typed", test: "TestLoadingOfANamespace",
}, {
	guard: "a namespace's grace is kept on the SSD",
	file:  "internal/local/store.go",
	old:   "s.ssd.tier.RaiseGrace(millis)",
	pkg:   "./internal/tests/typed", test: "TestLoadingOfANamespace",
}, {
	guard: "records from before a longer grace are past it later",
	file:  "internal/ram/sweep.go",
	old:   "seg.Latest += by",
	pkg:   "./internal/tests/typed", test: "TestLoadingOfANamespace",
}, {
	guard: "a namespace's hard timeout ends no other's loads",
	file:  "internal/load/load.go",
	old:   " || f.call.of.alarm != g.alarm",
	pkg:   "./internal/tests/typed", test: "TestLimitsOfANamespace",
}}
