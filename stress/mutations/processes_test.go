package mutations

// processes are the guards of loads of several processes, above one shared tier.
var processes = []mutation{{
	guard: "a load stores only over what it has leased",
	file:  "internal/fleet/load.go",
	old:   "s.shared.tier.Write(ctx, e, l.expect)",
	new:   "s.shared.tier.Write(ctx, e, shared.Anything)",
	pkg:   "./internal/load", test: "TestWriteElsewhereWinsOverLoad", quick: true,
}, {
	guard: "a load waits for that of another process",
	file:  "internal/load/shared.go",
	old:   "case came == toLoad && a.Leased && call.purpose != demanded && !call.impatient:",
	new:   "case false:",
	pkg:   "./internal/load", test: "TestOneLoadOfAllProcesses",
}, {
	guard: "a load does not wait for one process after the other",
	file:  "internal/load/shared.go",
	old:   "call.impatient = call.waits >= maxWaits",
	new:   "call.impatient = false",
	pkg:   "./internal/load", test: "TestFailuresOfManyProcesses",
}, {
	guard: "a load that fails releases its lease",
	file:  "internal/load/load.go",
	old:   "\t\tg.releaseLeases(call)\n",
	pkg:   "./internal/load", test: "TestHolderOfLeaseEnds",
}, {
	guard: "a load that is late releases its lease",
	file:  "internal/load/join.go",
	old:   "\tg.releaseLeases(call)\n",
	pkg:   "./internal/load", test: "TestHolderOfLeaseEnds",
}, {
	guard: "Close releases the leases of loads",
	file:  "internal/load/group.go",
	old:   "g.store.Fleet.Release(l.key, l.lease)",
	new:   "_ = l",
	pkg:   "./internal/load", test: "TestHolderOfLeaseEnds",
}, {
	guard: "who waits for a slot has no lease",
	file:  "internal/load/shared.go",
	old:   "leases := call.purpose != paused && g.limiter.tryHold(&call.slot)",
	new:   "leases := call.purpose != paused && (g.limiter.tryHold(&call.slot) || true)",
	pkg:   "./internal/load", test: "TestLimitWithServer",
}, {
	guard: "who waits for another process has no slot",
	file:  "internal/load/shared.go",
	old:   "\t\t\tcall.flights = waiting\n\t\t\tg.limiter.release(&call.slot)\n",
	new:   "\t\t\tcall.flights = waiting\n",
	pkg:   "./internal/load", test: "TestLimitWithServer",
}, {
	guard: "a suspect stale copy is no answer unchecked",
	file:  "internal/fleet/peek.go",
	old:   "\tif c.answers() {\n\t\treturn c.value, c.deadline, c.state",
	new:   "\tif c.answers() || c.state == Stale {\n\t\treturn c.value, c.deadline, c.state",
	pkg:   "./internal/load", test: "TestSuspectStaleCopy",
}, {
	guard: "the copy of a load that waited has a watch of its own",
	file:  "internal/fleet/load.go",
	old:   "\tif !w.Voided() {\n\t\treturn w, func() {}",
	new:   "\tif true {\n\t\treturn w, func() {}",
	pkg:   "./internal/load", test: "TestOneLoadOfAllProcesses",
}, {
	guard: "the copy from before goes before a load stores",
	file:  "internal/fleet/load.go",
	old:   "\ts.invalidateIfWatched(w, key, evicted.Replaced, ev) // the server may have another value soon\n",
	pkg:   "./internal/load", test: "TestOlderCopyGoesBeforeStore",
}}
