package cluster

import (
	"testing"

	"github.com/firncache/firn/remote/internal/slots"
	"github.com/firncache/firn/remote/internal/wire"
)

// table is slots 0 to 9 of claims: a letter for each wire.
type table struct {
	wires   map[*wire.Wire]byte
	tenures [slots.Count]*tenure
}

func (b *table) apply(claims ...claim) (changed int) {
	best := strongest(claims, slots.Count, func(slot int) *wire.Wire {
		if p := b.tenures[slot]; p != nil {
			return p.w
		}
		return nil
	})
	for c, slots := range changes(best, func(slot int) *tenure { return b.tenures[slot] }) {
		next := &tenure{over: true}
		if c != nil {
			next = &tenure{w: c.w, epoch: c.epoch}
		}
		for _, slot := range slots {
			b.tenures[slot] = next
			changed++
		}
	}
	return changed
}

func (b *table) String() (s string) {
	for _, p := range b.tenures[:10] {
		name := byte('-')
		if p != nil && !p.over {
			name = b.wires[p.w]
		}
		s += string(name)
	}
	return s
}

func TestStrongestClaimGetsSlot(t *testing.T) {
	a, b := &wire.Wire{}, &wire.Wire{}
	table := &table{wires: map[*wire.Wire]byte{a: 'a', b: 'b'}}
	is := func(w *wire.Wire, epoch uint64, from, to int) claim {
		return claim{w: w, epoch: epoch, slots: []slots.Range{{From: from, To: to}}}
	}
	for i, step := range []struct {
		claims  []claim
		want    string
		changed int
	}{
		{nil, "----------", 0},
		{[]claim{is(a, 1, 0, 4)}, "aaaaa-----", 5},
		{[]claim{is(a, 1, 0, 4), is(b, 2, 5, 9)}, "aaaaabbbbb", 5},
		{[]claim{is(a, 1, 0, 4), is(b, 2, 5, 9)}, "aaaaabbbbb", 0},
		{[]claim{is(a, 1, 0, 4), is(b, 2, 3, 9)}, "aaabbbbbbb", 2}, // the higher epoch
		{[]claim{is(a, 1, 0, 4), is(b, 1, 3, 9)}, "aaabbbbbbb", 7}, // of equal ones who has it; another epoch is another tenure
		{[]claim{is(a, 3, 0, 4)}, "aaaaa-----", 10},                // b says nothing
		{nil, "----------", 5},
		{nil, "----------", 0},
		{[]claim{is(a, 3, 0, 4), is(b, 1, 5, 9)}, "aaaaabbbbb", 10},
	} {
		changed := table.apply(step.claims...)
		if got := table.String(); got != step.want || changed != step.changed {
			t.Fatalf("step %d: %s, %d changed, want %s, %d", i, got, changed, step.want, step.changed)
		}
	}
	over := *table.tenures[0]
	over.over = true
	table.tenures[0] = &over
	if table.apply(is(a, 3, 0, 4), is(b, 1, 5, 9)) != 1 || table.tenures[0].over {
		t.Fatal("a slot that was said to be elsewhere does not begin another tenure")
	}
}
