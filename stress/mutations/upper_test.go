package mutations

// upper are the guards where the tiers meet, of fronts and of loads.
var upper = []mutation{{
	guard: "a write calls its hook before the bytes change",
	file:  "internal/tiered/write.go",
	old:   "token = (*h).BeforeWrite(w.key)",
	new:   "_ = h",
	pkg:   "./internal/tiered", test: "TestWriteProtocol",
}, {
	guard: "a write calls its hook after the bytes changed",
	file:  "internal/tiered/write.go",
	old:   "\t\t(*h).AfterWrite(w.key, token)\n",
	new:   "\t\t_, _ = h, token\n",
	pkg:   "./internal/tiered", test: "TestWriteProtocol",
}, {
	guard: "a write is counted before it begins",
	file:  "internal/coherence/stripe.go",
	old:   "s.state.Add(writeBegun + 1)",
	new:   "s.state.Add(1)",
	pkg:   "./internal/coherence", test: "TestFillsAndWrites", quick: true,
}, {
	guard: "a fill compares the state of its stripe",
	file:  "internal/coherence/stripe.go",
	old:   "if f.stripe.state.Load() == f.state {",
	new:   "if true {",
	pkg:   "./internal/coherence", test: "TestFillsAndWrites",
}, {
	guard: "no fill begins while a write is under way",
	file:  "internal/coherence/stripe.go",
	old:   "if f.state&writesUnderWay != 0 {",
	new:   "if false {",
	pkg:   "./internal/coherence", test: "TestFillsAndWrites",
}, {
	guard: "a write deletes the key from fronts",
	file:  "internal/coherence/table.go",
	old:   "\t\t\tdrop(key[GenerationLen:])\n",
	new:   "\t\t\t_ = drop\n",
	pkg:   "./internal/coherence", test: "TestFillsAndWrites",
}, {
	guard: "Clear makes another generation the current one",
	file:  "internal/coherence/table.go",
	old:   "\tt.invalidateAll()\n\tdo()\n",
	new:   "\tdo()\n",
	pkg:   "./internal/coherence", test: "TestClear",
}, {
	guard: "a front that came during a write is emptied",
	file:  "internal/coherence/table.go",
	old:   "\t\ts = t.beginWrite(a.stripe(key), key) // a front was attached since BeforeWrite\n",
	new:   "\t\treturn\n",
	pkg:   "./internal/coherence", test: "TestAttachDuringWrite",
}, {
	guard: "a load whose key was written is not joined",
	file:  "internal/load/join.go",
	old:   "if f != nil && f.watch.Voided() {",
	new:   "if false {",
	pkg:   ".", test: "TestSupersededLoadIsNotJoined",
}, {
	guard: "a load looks again before it calls the loader",
	file:  "internal/load/load.go",
	old:   "if res, ok := recheck(f); ok {",
	new:   "if res, ok := recheck(f); ok && false {",
	pkg:   ".", test: "TestLoadOnceWhenItIsQuick",
}, {
	guard: "a load whose callers have left is cancelled, if that was asked for",
	file:  "internal/load/join.go",
	old:   "\tif f.callers == 0 {\n\t\tf.abandon()\n\t}\n",
	pkg:   ".", test: "TestLoadCancelledWhenAllLeave",
}, {
	guard: "a load goes on when its callers have left",
	file:  "internal/load/flight.go",
	old:   "!cancelUnwanted && f.call.called.Load()",
	new:   "false",
	pkg:   ".", test: "TestLoadOutlivesItsCallers", quick: true,
}, {
	guard: "a load that waits for its turn is cancelled when its callers have left",
	file:  "internal/load/flight.go",
	old:   " && f.call.called.Load())",
	new:   ")",
	pkg:   ".", test: "TestMaxLoadsLeave",
}, {
	guard: "a load without callers is cancelled when its key is written",
	file:  "internal/load/join.go",
	old:   "\tif f.callers == 0 {\n\t\tf.abandon()\n\t}\n",
	pkg:   ".", test: "TestLoadWithoutCallersEnds",
}, {
	guard: "a loader is not waited for beyond the hard timeout",
	file:  "internal/load/load.go",
	old:   "\t\tg.endEarly(call, g.timeout)\n",
	pkg:   ".", test: "TestHardTimeout",
}, {
	guard: "at the hard timeout a value that came is an answer, and nothing else",
	file:  "internal/load/join.go",
	old:   "if f.returned && why == g.timeout {",
	new:   "if why == g.timeout {",
	pkg:   ".", test: "TestHardTimeout",
}, {
	guard: "a call that two loaders wait for is let run once",
	file:  "internal/load/limiter.go",
	old:   " && !s.bypassed.Swap(true)",
	pkg:   ".", test: "TestMaxLoadsNestedTwice",
}, {
	guard: "an entry of a front is of the current generation",
	file:  "typed.go",
	old:   " && e.generation == t.space.Generation()",
	pkg:   ".", test: "TestFrontFollowsWrites",
}, {
	guard: "the hook is told when a batch of writes is over",
	file:  "internal/tiered/batch_set.go",
	old:   "(*h).AfterWrite(key, tokens[i])",
	new:   "_, _ = key, tokens[i]",
	pkg:   "./internal/tiered", test: "TestWriteProtocol",
}}
