package mutations

// computes are the guards of changes by what is there.
var computes = []mutation{{
	guard: "Compute watches its key before it looks",
	file:  "compute.go",
	old:   "\tx.old = old\n",
	new:   "\tx.old = old\n\tc.store.End(&x.attempt)\n\tc.store.Begin(&x.attempt, x.key)\n",
	pkg:   "./internal/tests/compute", test: "TestIncrementsAddUp", racy: true,
}, {
	guard: "Compute keeps a key of its own, and not the caller's",
	file:  "compute.go",
	old:   "x.key = append(x.key[:0], key...)",
	new:   "x.key = key",
	pkg:   "./internal/tests/compute", test: "TestReusedBuffers", quick: true,
}, {
	guard: "a batch of Sets hashes a key again that OnEvict may have changed",
	file:  "internal/ram/set_multi.go",
	old:   "if t.causes.Load() != 0 {",
	new:   "if false {",
	pkg:   "./internal/tests/compute", test: "TestReusedBuffers",
}, {
	guard: "a Refresh that begins again has its own key",
	file:  "internal/load/refresh.go",
	old:   "if key = f.key; f.number",
	new:   "if f.number",
	pkg:   "./internal/tests/compute", test: "TestRefreshAfterReusedBuffer",
}, {
	guard: "what is changed in place is alive",
	file:  "internal/ram/in_place.go",
	old:   " || t.expired(&old)",
	pkg:   "./internal/ram", test: "TestInPlace",
}, {
	guard: "a change in place ends the watches of its key, and the lower tier's copy",
	file:  "internal/ram/in_place.go",
	old:   "ended := s.noteWrite(hash, key, nil, copied)",
	new:   "var ended *Watch",
	pkg:   "./internal/ram", test: "TestInPlace",
}, {
	guard: "what may be below is not absent in place",
	file:  "internal/ram/in_place.go",
	old:   " || t.lower != nil && t.lower.Has(hash)",
	pkg:   "./internal/ram", test: "TestInPlace",
}, {
	guard: "a deadline that slides is not kept in place",
	file:  "internal/ram/in_place.go",
	old:   " || t.slides.life != 0",
	pkg:   "./internal/ram", test: "TestInPlaceBesideSliding",
}, {
	guard: "a Compute that came too late begins again",
	file:  "internal/local/attempt.go",
	old:   "err := s.Write(w)",
	new:   "err := UnlessChanged(s.Write(w))",
	pkg:   "./internal/tests/compute", test: "TestComputeIsOvertaken", quick: true,
}, {
	guard: "an error of the disk is no absent entry",
	file:  "internal/local/attempt.go",
	old:   "return dst, 0, false, s.lookupError(ctx, err)",
	new:   "return dst, 0, false, nil",
	pkg:   "./internal/tests/compute", test: "TestComputeDiskFails",
}, {
	guard: "an entry that lies below is not absent",
	file:  "internal/local/ssd_tier.go",
	old:   "d.clearing.Load() != 0 || d.tier.Lacks(hash, token)",
	new:   "true",
	pkg:   "./internal/local", test: "TestAbsentInBoth",
}, {
	guard: "what lies on the SSD is gone while Clear is between the tiers",
	file:  "internal/local/attempt.go",
	old:   "if s.ssd.clearing.Load() != 0 {",
	new:   "if false {",
	pkg:   "./internal/local", test: "TestAttemptDuringClear",
}, {
	guard: "a Compute that wrote nothing ends its watch",
	file:  "internal/local/attempt.go",
	old:   "if !a.Watch.Voided() {",
	new:   "if false {",
	pkg:   "./internal/tests/compute", test: "TestComputePanics",
}, {
	guard: "an update keeps the deadline of a Touch since it looked",
	file:  "internal/ram/set.go",
	old:   "if r.keepsDeadline {",
	new:   "if false {",
	pkg:   "./internal/tests/compute", test: "TestComputeBesideTouch",
}, {
	guard: "an update heeds a Touch of what has left or expired since",
	file:  "internal/ram/touch.go",
	old:   "if found && !s.watches.None() {",
	new:   "if false {",
	pkg:   "./internal/tests/compute", test: "TestComputeBesideTouchAndLeave",
}, {
	guard: "a watch that begins anew knows of no Touch",
	file:  "internal/watch/watch.go",
	old:   "w.touched = false",
	pkg:   "./internal/ram", test: "TestWatchKnowsTouch",
}, {
	guard: "a watch that begins anew is not void",
	file:  "internal/watch/watch.go",
	old:   "w.void.Store(false)",
	pkg:   "./internal/ram", test: "TestWatchAgain",
}, {
	guard: "a void watch that nobody is called for is its owner's",
	file:  "internal/watch/watch.go",
	old:   "if w.Written != nil {\n\t\tw.next",
	new:   "if true {\n\t\tw.next",
	pkg:   "./internal/ram", test: "TestWatchAgain",
}, {
	guard: "a value that cannot be read is gone after Compute",
	file:  "typed_compute.go",
	old:   "\t\t\t\top = OpDelete\n",
	pkg:   "./internal/tests/compute", test: "TestTypedComputeOfUnreadable",
}}
