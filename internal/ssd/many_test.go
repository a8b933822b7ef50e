package ssd

import (
	"context"
	"testing"

	"github.com/firncache/firn/internal/vfs/vfstest"
)

// However much a batch reads, the buffers of what is under way take no more
// memory than the tier has counted for them.
func TestManyReadsInWindows(t *testing.T) {
	t.Parallel()
	const keys = 300
	w := newWorld(t, 1)
	w.most = 5000
	mem := vfstest.NewMem()
	w.reopen(t, testConfig(mem, w))
	for i := range keys {
		w.put(t, w.key(i))
	}
	w.close(t)
	w.reopen(t, testConfig(mem, w)) // nothing of the log is in memory
	defer w.close(t)

	var many Many
	var read int64
	for i := range keys {
		key := w.key(i)
		many.Queries = append(many.Queries, Query{Key: key, Hash: w.hasher.Hash(key)})
	}
	var most int64
	found := map[int]int{}
	w.tier.GetMany(context.Background(), &many, func(i int, f Found, err error) {
		found[i]++
		if err != nil {
			t.Errorf("%s: %v", w.key(i), err)
		}
		read += int64(len(f.Value))
		most = max(most, w.tier.reader.Bytes())
	})
	if len(found) != keys {
		t.Errorf("%d keys were answered, want %d", len(found), keys)
	}
	for i, n := range found {
		if n != 1 {
			t.Errorf("%s was answered %d times, want once", w.key(i), n)
		}
	}
	const chunk = 64 << 10 // what the buffers' pool takes from the system at once, for each size
	if limit := w.tier.cfg.readMemory() + 2*chunk; most > limit || read < 2*limit {
		t.Errorf("for values of %d bytes, buffers took %d bytes: want at most %d", read, most, limit)
	}
}
