package ram

import (
	"testing"
	"time"

	"github.com/firncache/firn/internal/record"
)

// atReady is a lower tier that calls a function when it is asked for WaitForRoom.
type atReady struct{ do func() }

func (atReady) Prefetch(uint64)                                              {}
func (atReady) Invalidate(uint64)                                            {}
func (atReady) Demote(uint64, []byte, []byte, int64, bool, record.Copy) bool { return false }
func (atReady) IsCurrent(uint64, uint64) bool                                { return false }
func (atReady) Has(uint64) bool                                              { return false }
func (b atReady) WaitForRoom(waited time.Duration) (time.Duration, bool) {
	b.do()
	return waited, true
}

// A write that looks for room while Close goes through the shards fails with
// ErrClosed.
func TestWriteDuringCloseIsClosed(t *testing.T) {
	t.Parallel()
	var tier *Tier
	closing := false
	done := make(chan bool)
	var second *shard
	tier, err := New(Config{Bytes: 2 << 20, Seed: 1, Now: func() int64 { return 1000 }, Lower: atReady{func() {
		if closing {
			return
		}
		closing = true
		second.mu.Lock() // Close comes as far as that
		go func() { done <- tier.Close() }()
		for first := &tier.shards[0]; ; {
			first.mu.Lock()
			closed := first.closed
			first.mu.Unlock()
			if closed {
				return
			}
		}
	}}})
	if err != nil {
		t.Fatal(err)
	}
	defer tier.Free()
	second = &tier.shards[1]
	var key [8]byte
	for i := range 1 << 20 {
		key[0], key[1], key[2] = byte(i), byte(i>>8), byte(i>>16)
		if tier.shardOf(tier.Hash(key[:])) == second {
			continue
		}
		if err = tier.setKey(key[:], make([]byte, 1000), 0); closing {
			break
		}
	}
	if err != ErrClosed {
		t.Errorf("%v, want %v", err, ErrClosed)
	}
	second.mu.Unlock()
	<-done
}
