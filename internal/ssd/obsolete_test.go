package ssd

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/klauspost/compress/s2"

	"github.com/firncache/firn/internal/ssd/log"
	"github.com/firncache/firn/internal/vfs/vfstest"
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

// The beginning of a compressed value is what it is, whatever repeats in it.
func TestExpandStart(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	source := rand.NewChaCha8([32]byte{1})
	for round := range 3000 {
		var value []byte
		for len(value) < 1+rng.IntN(600) || rng.IntN(4) > 0 && len(value) < 100_000 {
			switch n := 1 + rng.IntN(1<<rng.IntN(12)); rng.IntN(4) {
			case 0: // new bytes
				value = append(value, make([]byte, n)...)
				source.Read(value[len(value)-n:])
			case 1: // one byte again and again
				value = append(value, bytes.Repeat([]byte{byte(n)}, n)...)
			default: // earlier ones
				if len(value) > 0 {
					from := rng.IntN(len(value))
					value = append(value, value[from:min(from+n, len(value))]...)
				}
			}
		}
		for name, block := range map[string][]byte{"fast": s2.Encode(nil, value), "better": s2.EncodeBetter(nil, value), "best": s2.EncodeBest(nil, value)} {
			for _, room := range []int{1, 13, headBytes, 3000} {
				if got, want := expandStart(make([]byte, 0, room), block), value[:min(room, len(value))]; !bytes.Equal(got, want) {
					t.Fatalf("round %d, %s: %d bytes begin with %x, want %x", round, name, len(value), got, want)
				}
			}
		}
	}
}

// Of what is no block, nothing is read beyond its end.
func FuzzExpandStart(f *testing.F) {
	for _, block := range []string{"", "\x05", "\x05\xf4", "\x05\xf8\x01", "\x05\xfc\x01\x02\x03", "\x05\x01", "\x05\x00a\x01\x00", "\x05\x00a\x15\x01\x15\x00", "\x80"} {
		f.Add([]byte(block))
	}
	f.Fuzz(func(t *testing.T, block []byte) {
		got := expandStart(make([]byte, 0, headBytes), block)
		if n, err := s2.DecodedLen(block); err != nil || n > 1<<20 {
			return
		}
		if want, err := s2.Decode(nil, block); err == nil && !bytes.Equal(got, want[:min(len(want), headBytes)]) {
			t.Fatalf("%x begins with %x, want %x", block, got, want)
		}
	})
}

// A long value that nobody wants goes with the segment of its first part. What its later
// parts begin with, and those of others, says nothing.
func TestCleaningDropsObsoleteParts(t *testing.T) {
	for _, compressed := range []bool{false, true} {
		inBubble(t, fmt.Sprint(compressed), func(t *testing.T) {
			w := newWorld(t, 1)
			cfg := longConfig(vfstest.NewMem(), w)
			cfg.Compress = compressed
			w.reopen(t, cfg)
			x, unwanted, wanted := w.tier, w.key(0), w.key(1)
			var values [][]byte
			for _, key := range [][]byte{unwanted, wanted} {
				text := append(w.bytesOf(key, 1, 1000), bytes.Repeat([]byte("text "), 20_000)...)
				for i := range 50 {
					copy(text[i*2000+1000:], w.bytesOf(key, uint64(i), 1000)) // so that a part begins with some
				}
				w.ram[string(key)] = value{bytes: text}
				if !w.sink(key, nothing) {
					t.Fatal("it did not come")
				}
				values = append(values, text)
			}
			parts := checkParts(t, x) / 2
			w.come(t, w.key(2), 200<<10) // which seals their segments
			all := checkParts(t, x)
			x.log.FlushTo(x.log.Tail.Load())
			piece := (len(values[0]) + parts - 1) / parts
			x.SetObsolete(func(_, head []byte) bool {
				return len(head) > 0 && (bytes.HasPrefix(values[0], head) || bytes.HasPrefix(values[1][piece:], head))
			})
			var victims []log.Victim
			for _, key := range [][]byte{unwanted, wanted} {
				for i := range parts {
					part := x.ids.Part(x.ids.Of(w.hasher.Hash(key)), i)
					e, _ := x.index.ShardOf(part).Find(part)
					slot, _ := x.log.Place(x.index.Location(e))
					if v := (log.Victim{Slot: slot, Serial: x.log.SlotWords[slot].Serial.Load(), How: log.MoveAll}); !slices.Contains(victims, v) {
						victims = append(victims, v)
					}
				}
			}
			for i := range victims {
				if !x.emptySegment(&victims[i]) {
					t.Fatal("not emptied")
				}
			}
			if left, s := checkParts(t, x), x.Stats(); left != all-parts || s.Invalidated != 1 || s.Evicted != 0 {
				t.Errorf("%d parts are left, %d values were dropped, %d evicted: want %d, 1, 0", left, s.Invalidated, s.Evicted, all-parts)
			}
			if _, err := w.lookUp(unwanted); err == nil {
				t.Error("what nobody wants is found")
			}
			if f, err := w.lookUp(wanted); err != nil || !bytes.Equal(f.Value, values[1]) {
				t.Errorf("the other value: %v", err)
			}
		})
	}
}
