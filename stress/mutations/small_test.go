package mutations

// small are the guards of the packages that the tiers use.
var small = []mutation{{
	guard: "a link that leads nowhere is not followed",
	file:  "internal/index/table.go",
	old:   "if uint64(k) >= uint64(len(chunks)) {",
	new:   "if false {",
	pkg:   "./internal/ram", test: "TestReaderAmongGarbage",
}, {
	guard: "a ghost is taken once",
	file:  "internal/policy/ghost.go",
	old:   "bucket[i] &^= 0xffff << (16 * at)",
	pkg:   "./internal/policy", test: "TestGhostIsTakenOnce",
}, {
	guard: "a key that was away for long does not enter Main",
	file:  "internal/policy/ghost.go",
	old:   "if ok && 4*away < 3*stayed {",
	new:   "if _, _ = away, stayed; ok {",
	pkg:   "./internal/policy", test: "TestLane",
}, {
	guard: "reads of one key in 16 at most are reported",
	file:  "internal/policy/tuner.go",
	old:   "t.mask.Store(sample | readMask)",
	new:   "t.mask.Store(sample)",
	pkg:   "./internal/policy", test: "TestReadsOfOneKeyInSixteen",
}, {
	guard: "the policy hears of a record's reads when it is drained",
	file:  "internal/ram/drain.go",
	old:   "s.tier.tuner.Drained(e.hash, uint8(e.freq()))",
	pkg:   "./internal/ram", test: "TestPolicyHearsOfReadsInSmallTiers",
}, {
	guard: "a released buffer is not released again",
	file:  "bufpool/refs.go",
	old:   "case s != b.lent && !b.shared(s):\n\t\t\tb.misused(\"Release\")",
	new:   "case false:",
	pkg:   "./bufpool", test: "TestUseAfterRelease", quick: true,
}, {
	guard: "a checked pool poisons what is released",
	file:  "bufpool/refs.go",
	old:   "b.poison()",
	pkg:   "./bufpool", test: "TestReadAfterReleaseIsPoison",
}, {
	guard: "callers of a slow disk are bounded",
	file:  "internal/aio/try.go",
	old:   "if l.most == 0 || l.callers.Add(1) <= l.most {",
	new:   "if l.callers.Add(1) != 0 {",
	pkg:   "./internal/aio", test: "TestTryRefused", quick: true,
}, {
	guard: "a silent disk is not asked",
	file:  "internal/aio/try.go",
	old:   "case !r.silent(now):",
	new:   "case true:",
	pkg:   "./internal/aio", test: "TestTrySilentDisk",
}, {
	guard: "the memory of reads in flight is bounded",
	file:  "internal/aio/dispatch.go",
	old:   "r.lent+int64(o.n) > r.memory",
	new:   "false",
	pkg:   "./internal/aio", test: "TestMemoryInFlight",
}, {
	guard: "a short read goes on",
	file:  "internal/aio/ring_linux.go",
	old:   "if err == nil && o.done < o.n {",
	new:   "if false {",
	pkg:   "./internal/aio", test: "TestShortReadsGoOn",
}, {
	guard: "Close leaves what the kernel has of a stuck disk",
	file:  "internal/aio/close.go",
	old:   "\t\t<-r.drained\n\t\tr.free()",
	new:   "\t\tr.free()",
	pkg:   "./internal/aio", test: "TestKernelKeepsItsMemory",
}}
