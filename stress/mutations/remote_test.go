package mutations

// remotes are the guards of a tier that processes share, whose tests have a server.
var remotes = []mutation{{
	guard: "a copy is stored only if its key was not invalidated since it was asked for",
	file:  "internal/tiered/shared_copy.go",
	old:   "op: setIf, key: key, value: copied, deadline: deadline, watch: w, ev: ev",
	new:   "op: set, hash: s.ram.Hash(key), key: key, value: copied, deadline: max(deadline, 0)",
	pkg:   "./remote", test: "TestPushBetweenReplyAndCopy", quick: true,
}, {
	guard: "a lost connection ends the trust in what came by it",
	file:  "remote/wire.go",
	old:   "\t\t\tw.setFeed(shared.NewFeed())\n",
	pkg:   "./remote", test: "TestConnectionDiesBetweenReplyAndCopy",
}, {
	guard: "trust ends when the server was not heard of for the bound",
	file:  "remote/heartbeat.go",
	old:   "staleness - 2*tick - time.Millisecond,",
	new:   "time.Hour,",
	pkg:   "./remote", test: "TestBoundInABlackHole",
}, {
	guard: "the clock is asked when trust is near its end",
	file:  "internal/shared/trust.go",
	old:   "(until-now >= t.near || t.clock() <= until)",
	new:   "true",
	pkg:   "./internal/shared", test: "TestTrustEndsInTime",
}, {
	guard: "what is under a key has a checksum",
	file:  "remote/envelope.go",
	old:   "|| crcOf(b) != h.crc",
	pkg:   "./remote", test: "TestForeignValues",
}}
