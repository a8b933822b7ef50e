package ssd

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/s2"
)

// Records that nobody wants are not moved: they are taken out where others are moved.
func TestCleaningDropsObsolete(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, _, _, keys := halfDead(t)
		asked := 0
		unwanted := func(key []byte) bool { return (key[len(key)-1]-'0')%4 == 1 } // of the odd ones, which are alive
		w.tier.SetObsolete(func(key, head []byte) bool {
			asked++
			if !bytes.HasPrefix(head, w.bytesOf(key, w.acked[string(key)], 0)[:12]) {
				t.Errorf("of %s it shows %x", key, head)
			}
			return unwanted(key)
		})
		before := w.tier.Stats()
		w.ahead(4)
		s := w.tier.Stats()
		lost := w.missing(t)
		for _, key := range lost {
			if !unwanted([]byte(key)) {
				t.Errorf("%s is not found", key)
			}
		}
		if n := s.Invalidated - before.Invalidated; n == 0 || int(n) != len(lost) || s.Evicted > 0 || s.Reinserted == 0 {
			t.Errorf("%d of %d dropped, %d not found, %d asked about, %d moved, %d evicted", n, keys, len(lost), asked, s.Reinserted, s.Evicted)
		}
		w.close(t)
	})
}

// The beginning of a compressed value is told without expanding it, as far as it is random.
func TestFirstLiteral(t *testing.T) {
	rng := rand.NewChaCha8([32]byte{1})
	for _, random := range []int{1, 30, 60, 61, 69, 128, 255, 256, 257, 5000, 70_000} {
		value := make([]byte, random, random+100_000)
		rng.Read(value)
		value = append(value, bytes.Repeat([]byte("text "), 20_000)...)
		for name, block := range map[string][]byte{"fast": s2.Encode(nil, value), "better": s2.EncodeBetter(nil, value), "none": s2.Encode(nil, value[:random])} {
			got := firstLiteral(block)
			if !bytes.HasPrefix(value, got) || random <= 5000 && len(got) < min(random, 128) {
				t.Errorf("%d random bytes, %s: the first literal has %d bytes: want as many as are random", random, name, len(got))
			}
		}
	}
	for n := range 200 { // of what is no block, nothing is read beyond its end
		block := make([]byte, n)
		rng.Read(block)
		_ = firstLiteral(block)
	}
	for _, block := range []string{"", "\x05", "\x05\xf4", "\x05\xf8\x01", "\x05\xfc\x01\x02\x03", "\x05\x01", "\x80"} {
		if got := firstLiteral([]byte(block)); len(got) > 0 {
			t.Errorf("%s: %x, want nothing", fmt.Sprintf("%x", block), got)
		}
	}
}
