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
	old:   "t.reads.Store(sample | readMask)\n\tt.mask.Store((sample | readMask) & t.others)",
	new:   "t.reads.Store(sample)\n\tt.mask.Store(sample & t.others)",
	pkg:   "./internal/policy", test: "TestReadsOfOneKeyInSixteen",
}, {
	guard: "the policy hears of a record's reads when it is drained",
	file:  "internal/ram/drain.go",
	old:   "s.tier.tuner.Drained(e.hash, uint8(e.freq()))",
	pkg:   "./internal/ram", test: "TestPolicyHearsOfReadsInSmallTiers",
}, {
	guard: "the string in a key has its length before it",
	file:  "internal/typed/parts.go",
	old:   "append(binary.AppendUvarint(dst, uint64(len(str))), str...)",
	new:   "append(dst, str...)",
	pkg:   "./internal/typed", test: "TestShapesOfKeys", quick: true,
}, {
	guard: "−0 and 0 have the same bytes in a key",
	file:  "internal/typed/parts.go",
	old:   "\t\tf = 0 // of both signs\n",
	pkg:   "./internal/typed", test: "TestShapesOfKeys",
}, {
	guard: "NaN is no key",
	file:  "internal/typed/parts.go",
	old:   "binary.LittleEndian.AppendUint64(dst, math.Float64bits(f)), f == f",
	new:   "binary.LittleEndian.AppendUint64(dst, math.Float64bits(f)), true",
	pkg:   "./internal/typed", test: "TestNaNIsNoKey",
}, {
	guard: "blank fields are no part of a key",
	file:  "internal/typed/parts.go",
	old:   "if f := t.Field(i); f.Name != \"_\" {\n\t\t\tif err",
	new:   "if f := t.Field(i); true {\n\t\t\tif err",
	pkg:   "./internal/typed", test: "TestShapesOfKeys",
}, {
	guard: "only integers without a gap between them are one step",
	file:  "internal/typed/parts.go",
	old:   "last.width == s.width && last.offset+last.size == s.offset",
	new:   "last.width == s.width",
	pkg:   "./internal/typed", test: "TestShapesOfKeys",
}, {
	guard: "bytes that no key has are parsed as none",
	file:  "internal/typed/parts.go",
	old:   "n <= 0 || n > 1 && src[n-1] == 0 ||",
	new:   "n <= 0 ||",
	pkg:   "./internal/typed", test: "TestBytesOfNoKey",
}, {
	guard: "a namespace is one of a type of keys",
	file:  "internal/typed/namespace.go",
	old:   "label, v.keys)",
	new:   "label, v.keys[:0])",
	pkg:   "./internal/tests/kinds", test: "TestTypesOfKeysAreApart",
}, {
	guard: "a declared type of keys is not another of the same bits",
	file:  "internal/typed/key.go",
	old:   "if !predeclared(t) {",
	new:   "if false {",
	pkg:   "./internal/tests/kinds", test: "TestTypesOfKeysAreApart",
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
	guard: "a checked pool takes no memory that is unmapped while slices of it are left",
	file:  "bufpool/level.go",
	old:   "if o.OffHeap && !p.checked {",
	new:   "if o.OffHeap {",
	pkg:   "./bufpool", test: "TestReadAfterNextLendIsPoison",
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
}, {
	guard: "the kernel's queue outlives a caller that collects",
	file:  "internal/aio/ring_linux.go",
	old:   "\t\tr.kicks.Add(1) // c keeps the Reader from being drained until here\n\t\tdefer r.endKick()\n",
	new:   "",
	pkg:   "./internal/aio", test: "TestCloseWhileCollecting",
}, {
	guard: "callers collect where it pays, one at a time",
	file:  "internal/aio/ring_linux.go",
	old:   "worth := c.left > 0 && r.inFlight <= collectReads && g.usual <= g.collectFor",
	new:   "worth := c.left > 0",
	pkg:   "./internal/aio", test: "TestCollectWhere",
}}
