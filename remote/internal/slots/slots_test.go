package slots

import "testing"

func TestSlotOf(t *testing.T) {
	if sum := CRC16("123456789"); sum != 0x31c3 {
		t.Errorf("CRC16: %#x, want 0x31c3", sum)
	}
	for name, want := range map[string]int{ // as CLUSTER KEYSLOT has them
		"": 0, "foo": 12182, "bar": 5061, "{foo}": 12182, "x{foo}y{bar}": 12182, "foo{": Of("foo{"),
		"foo{}{bar}": 8363, "foo{{bar}}zap": 4015, "{user1000}.following": 3443, "{user1000}.followers": 3443, "ns:k{user1000}": 3443,
	} {
		if got := Of(name); got != want {
			t.Errorf("Of(%q): %d, want %d", name, got, want)
		}
	}
	if Of("a{") == Of("a") || Of("a}{b") == Of("b") {
		t.Error("a tag without its end counts")
	}
}
