package whatif

import (
	"slices"
	"testing"

	"github.com/firncache/firn/internal/policy"
)

// The first record with a deadline has the samples begin again with room for deadlines, in the same
// memory.
func TestFirstDeadline(t *testing.T) {
	t.Parallel()
	const memory = 128 << 10
	b := newBeside(t, memory, 1<<20)
	b.reads(3000, true, 1000, b.zipf(50_000))
	b.evicting = true
	if c := b.reads(60_000, true, 1000, b.zipf(50_000)); c.Points[4].State != Valid {
		t.Fatalf("without deadlines: %v, want 4 times the size valid", c.states())
	}
	room, share := b.groups[1].table.room(), b.groups[1].rate.share
	b.Store(1, 1000, b.now+1000, b.now)
	g := b.groups[1]
	if n := g.table.room(); n > room*85/100 || n < room*60/100 || b.Bytes() > memory {
		t.Errorf("with deadlines there is room for %d keys in %d bytes, and was for %d without; want a quarter less, in %d bytes", n, b.Bytes(), room, memory)
	}
	if g.rate.share > share || g.rate.share < share/2 {
		t.Errorf("the sample has %.4f of the keys, and had %.4f", g.rate.share, share)
	}
	if c := b.sync(); c.Points[3].State != Filling || c.Reads != 0 {
		t.Errorf("just after it: %v, want filling", c.states())
	}
	b.Store(2, 1000, b.now+1000, b.now)
	if b.groups[1] != g {
		t.Error("the second record with a deadline has them begin again, too")
	}
	if c := b.reads(60_000, true, 1000, b.zipf(50_000)); slices.Contains(c.states(), Filling) || c.Points[4].State != Valid {
		t.Errorf("later: %v, want none filling, and 4 times the size valid", c.states())
	}
}

// The stamp of a tail that stays for longer than 16 bits count is one of long ago, and not of late.
func TestStampsAge(t *testing.T) {
	t.Parallel()
	c := &newGroupOf([]float64{1}, 1000, 0, false).control.pieces[0]
	c.setCapacity(100, 1, 0)
	c.push(policy.Main, c.table.add(1), 0)
	var stayed uint32
	for n := range uint32(300_000) {
		c.ghosts.Evict(policy.Small, uint64(n))
		c.ageStamps()
		was := stayed
		if stayed = c.ghosts.Clock() - c.stamp(policy.Main); stayed < min(was, mostAge) || n < mostAge && stayed != n+1 {
			t.Fatalf("after %d evictions the tail is said to have been there for %d, and for %d before", n+1, stayed, was)
		}
	}
}
