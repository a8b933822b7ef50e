package mutations

// simulated are the guards of what the simulations of other sizes are told.
var simulated = []mutation{{
	guard: "a miss in assembly of a key that is simulated is left to Go",
	file:  "internal/ram/get_amd64.s",
	old:   "\tTESTQ Tier_simulatedMask(DI), DX\n\tJEQ  unusual\n",
	pkg:   "./internal/ram", test: "TestGetFastLeavesSampledMisses", quick: true,
}, {
	guard: "a simulation is told of a Set in place",
	file:  "internal/ram/set.go",
	old:   "\t\ts.mu.Unlock()\n\t\tt.observeStore(hash, len(key), len(value), deadline)\n",
	new:   "\t\ts.mu.Unlock()\n",
	pkg:   "./internal/ram", test: "TestSimulationIsTold",
}, {
	guard: "a simulation is told of a miss of a batch",
	file:  "internal/ram/get_multi.go",
	old:   "\t\tif l.record[j] == notThere {\n\t\t\tb.miss(i + k)\n\t\t\tt.observeMiss(hash)\n",
	new:   "\t\tif l.record[j] == notThere {\n\t\t\tb.miss(i + k)\n",
	pkg:   "./internal/ram", test: "TestSimulationIsTold",
}, {
	guard: "a simulation is told of a Delete of a watched key",
	file:  "internal/ram/set_if.go",
	old:   "\tt.observeDelete(w.Hash())\n",
	pkg:   "./internal/ram", test: "TestSimulationIsTold",
}, {
	guard: "a simulation is told of a Clear",
	file:  "internal/ram/clear.go",
	old:   "\tt.simulateClear()\n",
	pkg:   "./internal/ram", test: "TestSimulationIsTold",
}, {
	guard: "the simulation of both tiers is told of what both miss",
	file:  "internal/local/lookup.go",
	old:   "\t\ts.RAM.ObserveLower(hash, false, len(key), 0, 0)\n",
	pkg:   "./internal/tests/bytes", test: "TestCurveOfBothTiers",
}, {
	guard: "the largest record that is planned counts the simulations",
	file:  "internal/ram/lifecycle.go",
	old:   ", Simulation: ServiceSimulation(bytes)}",
	new:   "}",
	pkg:   "./internal/ram", test: "TestPlannedMaxRecord",
}}
