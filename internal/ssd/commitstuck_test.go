package ssd

import (
	"errors"
	"testing"

	"github.com/firncache/firn/internal/vfs"
)

// Row 16: a write that comes to its note after Close has given up is told so, and
// does not wait for the disk, wherever that is stuck.
func TestFault16CommitAfterStuckClose(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a note", "the sync of the log", "the superblock", "the sync of the superblock"} {
		rule := closingSteps[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 1)
			f := vfs.NewFaulty(vfs.NewMem())
			w.reopen(t, hurried(f, w))
			w.put(t, w.key(1))
			h := w.hasher.Hash(w.key(1))
			w.tier.Superseded(h)
			rule.Block = true
			stuck := f.Inject(rule)
			defer stuck.Remove()
			if err := w.tier.Close(); !errors.Is(err, errStuck) {
				t.Fatalf("Close: %v, want that the disk is stuck", err)
			}
			inTime(t, "Commit", func() {
				if err := w.tier.Commit(h); err == nil {
					t.Error("Commit: want an error")
				}
			})
			stuck.Remove()
			w.tier.Free()
		})
	}
}
