package mutations

// remotes are the guards of a tier that processes share, whose tests have a server.
var remotes = []mutation{{
	guard: "a copy is stored only if its key was not invalidated since it was asked for",
	file:  "internal/fleet/copy.go",
	old:   "Op: local.OpSetIf, Key: key, Value: copied, Deadline: deadline, Watch: w, Evicted: ev",
	new:   "Op: local.OpSet, Hash: s.local.RAM.Hash(key), Key: key, Value: copied, Deadline: max(deadline, 0)",
	pkg:   "./remote", test: "TestPushBetweenReplyAndCopy", quick: true,
}, {
	guard: "a lost connection ends the trust in what came by it",
	file:  "remote/internal/wire/epoch.go",
	old:   "\t\tw.common.Owner.BeginEpoch(w, shared.NewFeed())\n",
	pkg:   "./remote", test: "TestConnectionDiesBetweenReplyAndCopy",
}, {
	guard: "a flushed server's keys begin another epoch",
	file:  "remote/internal/wire/epoch.go",
	old:   "\t\tw.common.Owner.BeginEpoch(w, next)\n",
	pkg:   "./remote", test: "TestFlushEndsEpoch",
}, {
	guard: "other data on a server begins another epoch",
	file:  "remote/internal/link/beat.go",
	old:   "\t\tc.events.Flushed(c)\n",
	pkg:   "./remote", test: "TestSwappedDatabase",
}, {
	guard: "trust ends when the server was not heard of for the bound",
	file:  "remote/internal/link/rhythm.go",
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
	file:  "remote/internal/entry/envelope.go",
	old:   "|| crcOf(b) != h.CRC",
	pkg:   "./remote", test: "TestForeignValues",
}, {
	guard: "another owner of a slot begins another epoch",
	file:  "remote/internal/cluster/update.go",
	old:   "next := &tenure{w: won.w, epoch: won.epoch, feed: shared.NewFeed()}",
	new:   "next := &tenure{w: won.w, epoch: won.epoch, feed: shared.NewFeed()}\nif old := c.slots[slots[0]].Load(); old != nil { next.feed = old.feed }",
	pkg:   "./remote", test: "TestCluster",
}, {
	guard: "copies are trusted while the owners' map is within the bound",
	file:  "remote/internal/link/beat_cluster.go",
	old:   "return min(h.pong(), c.watch.confirmed+h.bound), c.watch.confirmed != never",
	new:   "return h.pong(), true",
	pkg:   "./remote", test: "TestClusterWithoutMapOrKeys",
}, {
	guard: "a server of a cluster shows by a key that it is alive",
	file:  "remote/internal/link/beat_cluster.go",
	old:   "if owns {",
	new:   "if owns = false; owns {",
	pkg:   "./remote", test: "TestClusterWithoutMapOrKeys",
}, {
	guard: "a server whose cluster is down owns nothing",
	file:  "remote/internal/link/beat_cluster.go",
	old:   ` && command.InfoField(info, "cluster_state") == "ok"`,
	pkg:   "./remote", test: "TestClusterMinority",
}, {
	guard: "a copy gets a new stamp only if its key was not invalidated since it was checked",
	file:  "internal/ram/in_place.go",
	old:   "if s.closed || w.Voided() {",
	new:   "if s.closed {",
	pkg:   "./internal/ram", test: "TestSetTail",
}, {
	guard: "a copy that no server has given is of this process",
	file:  "internal/shared/trust.go",
	old:   "s&slotMask == t.Salt() && ",
	pkg:   "./internal/shared", test: "TestTrustAlone",
}, {
	guard: "a load's lease is extended while it is held",
	file:  "remote/lease.go",
	old:   "\t\tt.holding.hold(t.leaseAt(q.Key, e))\n",
	pkg:   "./remote", test: "TestHeldLeaseIsExtended",
}, {
	guard: "the life of a number in use is renewed",
	file:  "remote/number.go",
	old:   "left < (numberLife-numberWorn)", new: "left < 0*(numberLife-numberWorn)",
	pkg: "./remote", test: "TestLivesOfNumbers",
}, {
	guard: "what was kept while a number was unknown is no answer once it was known",
	file:  "internal/typed/apart.go",
	old:   "a.is.Swap(nil)",
	new:   "a.is.Load()",
	pkg:   "./internal/tests/shared", test: "TestOneTypedLoadEachBoundWhileAway",
}, {
	guard: "a value of which the tags are not known is kept alone until a tag is invalidated here",
	file:  "internal/typed/tags.go",
	old:   "\t\tt.numbers.EndAlone() // as values of which the tags are not known may have this one\n\t\tdefer t.numbers.EndAlone()\n",
	pkg:   "./internal/tests/shared", test: "TestOneTypedLoadEachBoundWhileAway",
}, {
	guard: "a value of which the tags are not known is not given to a server that is there",
	file:  "internal/load/store_result.go",
	old:   "\t\tf.call.directives.isAlone(f) && f.leaseOf().IsKnown(),\n",
	pkg:   "./internal/tests/shared", test: "TestTagsUnknownMeanwhile",
}, {
	guard: "who joins another's check gets no stamp",
	file:  "remote/checks.go",
	old:   "\t\tf.Stamp = 0\n",
	pkg:   "./remote", test: "TestChecksAreShared",
}, {
	guard: "a copy on the SSD that was checked is noted, though RAM has it, too",
	file:  "internal/fleet/read.go",
	old:   " && !s.local.HasSSD()",
	pkg:   "./internal/store", test: "TestCopiesBetweenTiersAreCheckedOnce",
}, {
	guard: "of an invalidated and an expired tag the former counts",
	file:  "internal/typed/shared_tags.go",
	old:   "\t\tif at == 0 {\n\t\t\treturn isSealed(n, h), 0\n\t\t}\n",
	new:   "\t\tif at == 0 {\n\t\t\tcontinue\n\t\t}\n",
	pkg:   "./internal/typed", test: "TestJudgeShared",
}, {
	guard: "of two tags that have expired the earlier counts",
	file:  "internal/typed/shared_tags.go",
	old:   "if since == 0 || at < since {",
	new:   "if at > since {",
	pkg:   "./internal/typed", test: "TestJudgeShared",
}, {
	guard: "the secret is known when a value is judged that has expired",
	file:  "internal/typed/shared_tags.go",
	old:   "\t_, err := t.numbers.GetToRead(ctx, secretID, t.numbers.Find(secretID))\n",
	new:   "\tvar err error\n",
	pkg:   "./internal/tests/shared", test: "TestSharedExpireTag",
}, {
	guard: "a copy whose tag has expired is stale",
	file:  "internal/fleet/load.go",
	old:   "\ts.judge(key, a)\n",
	pkg:   "./internal/tests/shared", test: "TestSharedExpireTagBehindALoad",
}, {
	guard: "a value of the shared tier whose tag has expired is leased, to be loaded",
	file:  "internal/fleet/load.go",
	old:   "case !s.judge(key, a):",
	new:   "default:",
	pkg:   "./internal/tests/shared", test: "TestSharedExpireTag",
}, {
	guard: "a stale answer may have a tag that has expired",
	file:  "typed.go",
	old:   "(err == errTagExpired || made && !errors.Is(err, errInvalidated))",
	new:   "made && !errors.Is(err, errInvalidated)",
	pkg:   "./internal/tests/shared", test: "TestSharedExpireTag",
}, {
	guard: "a stale answer has no tag that is known to be invalidated",
	file:  "typed.go",
	old:   "(err == errTagExpired || made && !errors.Is(err, errInvalidated))",
	new:   "(err == errTagExpired || made)",
	pkg:   "./internal/tests/shared", test: "TestSharedExpireAndInvalidate",
}, {
	guard: "an expiry compares the number that it replaces",
	file:  "remote/number.go",
	old:   "err = t.replace(ctx, w, name, shared.Expect{Version: shared.Version(old.Value)}, t.numberEnvelope(n), numberLife)",
	new:   "err = w.Do(ctx, command.Set(name, t.numberEnvelope(n), numberLife)).Error()",
	pkg:   "./remote", test: "TestExpireNumberDuringRenewal", racy: true,
}, {
	guard: "a number whose life is renewed keeps those before it",
	file:  "remote/number.go",
	old:   "shared.Expect{Version: h.Version}, string(b), numberLife)",
	new:   "shared.Expect{Version: h.Version}, marker(0, h.Version), numberLife)",
	pkg:   "./remote", test: "TestLivesOfNumbers",
}, {
	guard: "what a load finds that this process has voided is not kept alone",
	file:  "internal/fleet/load.go",
	old:   "shared.ErrTooLarge), voided:",
	new:   "shared.ErrTooLarge), voided && false:",
	pkg:   "./internal/tests/shared", test: "TestDeleteThenAway",
}, {
	guard: "a change that is too large removes nothing",
	file:  "remote/write.go",
	old:   "if err != nil && expect.Any {",
	new:   "if err != nil {",
	pkg:   "./remote", test: "TestTooLargeChange",
}, {
	guard: "a load whose tags are named late is none for who came since",
	file:  "internal/load/load.go",
	old:   "f.result.err == nil && (f.call.directives.isAlone(f) || ",
	new:   "f.result.err == nil && (",
	pkg:   "./internal/tests/shared", test: "TestJoinsLoadOfInvalidatedTag",
}}
