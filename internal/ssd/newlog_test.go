package ssd

import (
	"testing"

	"github.com/firncache/firn/internal/vfs/vfstest"
)

// A log that starts empty has a number of its own: what the disk held before does
// not pass for its records.
func TestEmptyLogHasAnotherNumber(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, 1)
		w.reopen(t, testConfig(vfstest.NewMem(), w))
		w.put(t, w.key(0))
		before := w.tier.log.Number()
		if err := w.tier.startEmptyLog(); err != nil {
			t.Fatal(err)
		}
		if w.tier.log.Number() == before || w.tier.super.LogID == before {
			t.Error("the new log has the number of the old one")
		}
		w.crashed()
		w.close(t)
	})
}
