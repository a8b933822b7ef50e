package mutations

// endings are the guards of Shutdown.
var endings = []mutation{{
	guard: "Close that has given up begins nothing more",
	file:  "internal/ssd/close.go",
	old:   "\tt.tracked.Refuse()\n",
	pkg:   "./internal/tests/ssd", test: "TestFault16Shutdown",
}, {
	guard: "a write that was refused costs no segment",
	file:  "internal/ssd/log/writer.go",
	old:   "if errors.Is(err, fs.ErrClosed) {",
	new:   "if errors.Is(err, fs.ErrExist) {",
	pkg:   "./internal/ssd", test: "TestCloseGivesUpWithinSegment",
}, {
	guard: "a sync that was refused does not void the log",
	file:  "internal/ssd/close.go",
	old:   "if !errors.Is(err, fs.ErrClosed) {",
	new:   "if true || !errors.Is(err, fs.ErrClosed) {",
	pkg:   "./internal/ssd", test: "TestCloseGivesUpBeforeTheSync",
}, {
	guard: "a list that Close keeps from being read costs no segment",
	file:  "internal/ssd/reclaim.go",
	old:   "\tif err != nil && t.gaveUp.Load() {\n\t\treturn false\n\t}\n",
	pkg:   "./internal/ssd", test: "TestCloseGivesUpWhileReclaiming",
}, {
	guard: "records that Close keeps from being read are not evicted",
	file:  "internal/ssd/reclaim.go",
	old:   "\tif t.gaveUp.Load() { // which may be why some could not be read\n\t\treturn false\n\t}\n",
	pkg:   "./internal/ssd", test: "TestCloseGivesUpWhileReclaiming",
}, {
	guard: "the end of a Shutdown's time is for the index",
	file:  "internal/local/pace.go",
	old:   "return float64(left)*float64(written) < 2*float64(passed)*float64(p.toSave)",
	new:   "return false && written == 0",
	pkg:   "./internal/tests/ssd", test: "TestShutdownSlowDisk",
}, {
	guard: "nobody waits for room beyond a Shutdown's time",
	file:  "internal/local/shutdown.go",
	old:   "\tdefer context.AfterFunc(ctx, t.Hurry)()\n",
	pkg:   "./internal/tests/ssd", test: "TestFault16Shutdown",
}, {
	guard: "whoever closes second waits for the first",
	file:  "internal/local/store.go",
	old:   "\tselect {\n\tcase <-before:\n\t\treturn false, nil\n\tcase <-ctx.Done():\n\t}\n",
	pkg:   "./internal/tests/ssd", test: "TestShutdownBesideAnother",
}, {
	guard: "the index is saved in the directory that was opened",
	file:  "internal/ssd/superblock.go",
	old:   "if err == nil && s.LogID != f.LogID ||",
	new:   "if err == nil && s.LogID == 0 ||",
	pkg:   "./internal/tests/ssd", test: "TestDirectoryReplacedWhileOpen",
}, {
	guard: "files that were removed are missed",
	file:  "internal/ssd/superblock.go",
	old:   "\t\treturn errMoved\n",
	new:   "\t\treturn nil\n",
	pkg:   "./internal/tests/ssd", test: "TestFilesRemovedWhileOpen",
}}
