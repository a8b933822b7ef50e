package ram

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/firncache/firn/internal/watch"
)

// A tail is replaced where the number before it is the expected one, and only then; watches of the
// key go on.
func TestSetTail(t *testing.T) {
	tier, err := New(Config{Bytes: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer tier.Free()
	defer tier.Close()
	tail := func(value string, version, stamp uint64) []byte {
		return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64([]byte(value), version), stamp)
	}
	for _, c := range []struct {
		name   string
		stored []byte
		void   bool
		want   []byte
	}{
		{"the expected one", tail("value", 7, 1), false, tail("value", 7, 2)},
		{"nothing before it", tail("", 7, 1), false, tail("", 7, 2)},
		{"another version", tail("value", 8, 1), false, nil},
		{"too short", []byte("value"), false, nil},
		{"long", tail(string(make([]byte, 3<<19)), 7, 1), false, nil},
		{"written since", tail("value", 7, 1), true, nil},
	} {
		key := []byte(c.name)
		if err := tier.Set(tier.Hash(key), key, c.stored, 0); err != nil {
			t.Fatal(err)
		}
		var w watch.Watch
		tier.Watch(&w, tier.Hash(key), key)
		if c.void {
			_ = tier.Set(tier.Hash(key), key, c.stored, 0)
		}
		ok := tier.SetTail(&w, 7, 2)
		got, _, found := tier.Peek(tier.Hash(key), nil, key)
		want := c.want
		if want == nil {
			want = c.stored
		}
		if ok != (c.want != nil) || !found || !bytes.Equal(got, want) || w.Voided() != c.void {
			t.Errorf("%s: %v, found %v, void %v, %d bytes: want %v", c.name, ok, found, w.Voided(), len(got), c.want != nil)
		}
		tier.Unwatch(&w)
	}
	var absent watch.Watch
	tier.Watch(&absent, tier.Hash([]byte("absent")), []byte("absent"))
	if tier.SetTail(&absent, 7, 2) {
		t.Error("the tail of nothing is replaced")
	}
	tier.Unwatch(&absent)
}
