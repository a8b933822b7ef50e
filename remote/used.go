package remote

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/firncache/firn/remote/internal/command"
	"github.com/firncache/firn/remote/internal/wire"
	"github.com/redis/rueidis"
)

// What this process reads from local copies is the coldest of all for a server that evicts. So what is
// used here is read on the server, too, again and again, which is announced to no process: the numbers
// that were an answer; and while servers evict, the keys of some of the reads, as often as they are read.
const (
	keyTouch    = 100 * time.Millisecond
	numberTouch = 20 * keyTouch
	maxTouched  = 1 << 10 // numbers at a time
)

func (t *sharedTier) touchAlways() {
	tick := time.NewTicker(keyTouch)
	defer tick.Stop()
	evicted, evicting := uint64(0), false
	for n := 1; ; n++ {
		select {
		case <-t.done:
			return
		case <-tick.C:
		}
		if n%int(numberTouch/keyTouch) == 0 {
			t.touchNumbers(t.local().UsedNumbers(maxTouched))
			now := t.evictions(t.common.Dialing)
			evicting, evicted = now > evicted, now
		}
		if evicting {
			t.touchKeys(t.local().ReadKeys())
		}
	}
}

// evictions is how many keys the servers have evicted.
func (t *sharedTier) evictions(ctx context.Context) (sum uint64) {
	for _, w := range t.cluster.Owners() {
		info, _ := w.Do(ctx, command.New("INFO", "stats")).ToString()
		n, _ := strconv.ParseUint(command.InfoField(info, "evicted_keys"), 10, 64)
		sum += n
	}
	return sum
}

// touchKeys reads the first byte of keys, once each.
func (t *sharedTier) touchKeys(keys [][]byte) {
	once := map[string]bool{}
	for _, key := range keys {
		once[t.names.Entry(key)] = true
	}
	names := slices.Collect(maps.Keys(once))
	t.byWire(t.common.Dialing, len(names), func(i int) string { return names[i] }, func(int, error) {}, func(w *wire.Wire, group []item) {
		cmds := make([]rueidis.Completed, len(group))
		for i, it := range group {
			cmds[i] = command.GetRange(names[it.i], 0, 1)
		}
		w.DoMulti(t.common.Dialing, cmds...)
	})
}
