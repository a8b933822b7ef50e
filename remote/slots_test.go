package remote

import (
	"testing"

	"github.com/firncache/firn/remote/internal/entry"
)

func TestSlotOf(t *testing.T) {
	if sum := crc16("123456789"); sum != 0x31c3 {
		t.Errorf("crc16: %#x, want 0x31c3", sum)
	}
	for name, want := range map[string]int{ // as CLUSTER KEYSLOT has them
		"": 0, "foo": 12182, "bar": 5061, "{foo}": 12182, "x{foo}y{bar}": 12182, "foo{": slotOf("foo{"),
		"foo{}{bar}": 8363, "foo{{bar}}zap": 4015, "{user1000}.following": 3443, "{user1000}.followers": 3443, "ns:k{user1000}": 3443,
	} {
		if got := slotOf(name); got != want {
			t.Errorf("slotOf(%q): %d, want %d", name, got, want)
		}
	}
	if slotOf("a{") == slotOf("a") || slotOf("a}{b") == slotOf("b") {
		t.Error("a tag without its end counts")
	}
}

func TestEverySlotHasTag(t *testing.T) {
	tier := &Tier{names: entry.Names{Prefix: "ns:"}}
	for slot := range clusterSlots {
		if got := slotOf(tier.beatName(slot)); got != slot {
			t.Fatalf("%s is in slot %d, want %d", tier.beatName(slot), got, slot)
		}
	}
}
