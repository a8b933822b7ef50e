package mutations

// readers are the guards of those who read without a lock, and of writers
// towards them.
var readers = []mutation{{
	guard: "a reader in assembly compares the version after the copy",
	file:  "internal/ram/get_amd64.s",
	old:   "\tCMPL CX, (R15); \\\n\tJNE  unusual; \\\n",
	pkg:   "./internal/ram", test: "TestGetWhole", racy: true,
}, {
	guard: "a reader in assembly refuses an odd version",
	file:  "internal/ram/get_amd64.s",
	old:   "\tTESTL $1, CX; \\\n\tJNE   unusual; \\\n",
	pkg:   "./internal/ram", test: "TestGetDuringOverwrite",
}, {
	guard: "a reader in assembly that found nothing compares the shape of the index",
	file:  "internal/ram/get_amd64.s",
	old:   "; \\\n\tCMPQ R12, (shard_table+const_tableShape)(R10); \\\n\tJNE  unusual\n",
	new:   "\n",
	pkg:   "./internal/ram", test: "TestGetWhileIndexMoves", racy: true,
}, {
	guard: "a reader in assembly compares both ends of a key",
	file:  "internal/ram/get_amd64.s",
	old:   "\tMOVQ -8(SI)(R8*1), AX; \\\n\tCMPQ AX, -8(BX)(R8*1); \\\n\tJNE  unusual; \\\n",
	pkg:   "./internal/ram", test: "TestGetComparesTheKey",
}, {
	guard: "a reader in assembly compares the end of a long key",
	file:  "internal/ram/get_amd64.s",
	old:   "\tVPCMPEQB  (BX)(AX*1), X0, X0; \\\n",
	new:   "\tVPCMPEQB  X0, X0, X0; \\\n",
	pkg:   "./internal/ram", test: "TestGetComparesTheKey",
}, {
	guard: "a reader in assembly takes no location beyond the segments",
	file:  "internal/ram/get_amd64.s",
	old:   "\tCMPQ  R15, Tier_ghostAt(DI); \\\n\tJCC   unusual; \\\n",
	pkg:   "./internal/ram", test: "TestReaderAmongGarbage",
}, {
	guard: "a reader in assembly compares the deadline with the time",
	file:  "internal/ram/get_amd64.s",
	old:   "\tCMPQ R14, (BX); \\\n\tJGE  unusual; \\\n",
	pkg:   "./internal/ram", test: "TestGetIsGetSlow",
}, {
	guard: "a reader in assembly copies no more than dst has room for",
	file:  "internal/ram/get_amd64.s",
	old:   "\tCMPQ BX, dst_cap+24(FP); \\\n\tJHI  unusual; \\\n",
	pkg:   "./internal/ram", test: "TestGetIsGetSlow",
}, {
	guard: "a reader in assembly writes nothing behind the value",
	file:  "internal/ram/get_amd64.s",
	old:   "VMOVDQU X1, -16(DX)(AX*1)",
	new:   "VMOVDQU Y1, -16(DX)(AX*1)",
	pkg:   "./internal/ram", test: "TestGetWritesNoMore", quick: true,
}, {
	guard: "a reader compares the version after the copy",
	file:  "internal/ram/get.go",
	old:   "h.version.Load() == version && ",
	pkg:   "./internal/ram", test: "TestGetWhole", racy: true,
}, {
	guard: "a reader refuses an odd version",
	file:  "internal/ram/get.go",
	old:   "return version&1 == 0 && ",
	new:   "return ",
	pkg:   "./internal/ram", test: "TestGetDuringOverwrite",
}, {
	guard: "a reader compares the epoch after the copy",
	file:  "internal/ram/get.go",
	old:   " && s.epoch.Load() == epoch",
	pkg:   "./internal/ram", test: "TestReuseIsNoticed", quick: true,
}, {
	guard: "a reader compares the epoch before it copies by a length",
	file:  "internal/ram/get.go",
	old:   "if s.reused(epoch) { // the length means nothing",
	new:   "if false {",
	pkg:   "./internal/ram", test: "TestGetBelievesNoLengthOfReusedMemory",
}, {
	guard: "a reader takes no location beyond the segments",
	file:  "internal/ram/get.go",
	old:   "if off >= t.ghostAt { // a bucket whose memory was reused",
	new:   "if false {",
	pkg:   "./internal/ram", test: "TestReaderAmongGarbage",
}, {
	guard: "a reader follows a link between buckets only in the same epoch",
	file:  "internal/ram/get.go",
	old:   "\tif s.reused(epoch) {\n\t\treturn nil",
	new:   "\tif false {\n\t\treturn nil",
	pkg:   "./internal/ram", test: "TestReaderInACircle",
}, {
	guard: "a reader compares the deadline with the time",
	file:  "internal/ram/get.go",
	old:   "if deadline != 0 && t.hides(deadline, asked) {",
	new:   "if false {",
	pkg:   "./internal/ram", test: "TestGrace",
}, {
	guard: "a reader that asks for a deadline refuses an odd version, and one that has changed",
	file:  "internal/ram/peek.go",
	old:   "if !s.unchanged(epoch, b, slot, loc, h, version) {",
	new:   "if _, _ = epoch, version; false {",
	pkg:   "./internal/ram", test: "TestGetDuringOverwrite",
}, {
	guard: "a reader that asks for a deadline takes no location beyond the segments",
	file:  "internal/ram/peek.go",
	old:   "if off-1 >= t.ghostAt-1 {",
	new:   "if false {",
	pkg:   "./internal/ram", test: "TestReaderAmongGarbage",
}, {
	guard: "the version is odd while a value is overwritten",
	file:  "internal/ram/set.go",
	old:   "offheap.StoreRelease32(&h.version, version+1)\n",
	new:   "\n",
	pkg:   "./internal/ram", test: "TestGetWhole", racy: true,
}, {
	guard: "a deadline is overwritten while the version is odd",
	file:  "internal/ram/set.go",
	old:   "\toffheap.StoreFence()\n\tif shape.Expires() {\n",
	new:   "\toffheap.StoreFence()\n\tif shape.Expires() {\n\t\tdefer func() { offheap.StoreRelease64(offheap.At[atomic.Uint64](t.region, off+shape.DeadlineOffset()), uint64(deadline)) }()\n\t}\n\tif false {\n",
	pkg:   "./internal/ram", test: "TestDeadlineOfItsValue", racy: true,
}, {
	guard: "the epoch grows before a segment is given back",
	file:  "internal/ram/log.go",
	old:   "s.epoch.Add(1)\n",
	new:   "\n",
	pkg:   "./internal/ram", test: "TestReuseIsNoticed",
}, {
	guard: "a split changes the shape before it clears the old places",
	file:  "internal/index/grow.go",
	old: `	t.publish(n + 1)
	for i, h := range s.hashes {
		if home(h, n+1) == n {
			s.buckets[i].clear(s.slots[i])
		}
	}
`,
	new: `	for i, h := range s.hashes {
		if home(h, n+1) == n {
			s.buckets[i].clear(s.slots[i])
		}
	}
	t.publish(n + 1)
`,
	pkg: "./internal/ram", test: "TestGetWhileIndexMoves", racy: true,
}, {
	guard: "an entry that closes a gap in a chain changes the shape",
	file:  "internal/index/grow.go",
	old:   "\t\t\tt.publish(t.Buckets())\n\t\t\tlast.clear(from)",
	new:   "\t\t\tlast.clear(from)",
	pkg:   "./internal/ram", test: "TestGetWhileIndexMoves", racy: true,
}}
