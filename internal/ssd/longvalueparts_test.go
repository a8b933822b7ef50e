package ssd

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/firncache/firn/internal/record"
	"github.com/firncache/firn/internal/ssd/check"
	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/ssd/log"
	"github.com/firncache/firn/internal/vfs"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// Parts that no head names go when their segment is reclaimed, but not while a value is
// being written.
func TestPartsWithoutHeadGo(t *testing.T) {
	for _, writing := range []bool{true, false} {
		inBubble(t, fmt.Sprint(writing), func(t *testing.T) {
			w := longWorld(t, 4, vfstest.NewMem())
			x, key := w.tier, w.key(1)
			d, _ := x.DemoteParts(w.hasher.Hash(key), len(key), 100<<10, 0, true, record.NoCopy)
			for range d.head.Parts - 1 {
				_, n := d.NextPart()
				if ok, _ := d.PutPart(make([]byte, n)); !ok {
					t.Fatal("no room")
				}
			}
			if !writing {
				x.live.descents.Add(-1) // as after a kill
			}
			x.log.FlushTo(x.log.Tail.Load())
			part := x.ids.Part(d.owner, 0)
			e, _ := x.index.ShardOf(part).Find(part)
			slot, _ := x.log.Place(x.index.Location(e))
			v := log.Victim{Slot: slot, Serial: x.log.SlotWords[slot].Serial.Load(), How: log.MoveAll}
			before := checkParts(t, x)
			if !x.emptySegment(&v) {
				t.Fatal("not emptied")
			}
			want := before
			if !writing {
				want -= 4 // as many fill a segment
			}
			if after := checkParts(t, x); after != want || before != d.head.Parts-1 || x.log.Slots[slot].Alive.Load() != 0 {
				t.Fatalf("%d parts of %d are left: want %d", after, before, want)
			}
		})
	}
}

// evictPart reclaims the record of a value's part, as if it had not been read.
func evictPart(t *testing.T, x *Tier, owner format.ID, part int) {
	t.Helper()
	p := x.ids.Part(owner, part)
	s := x.index.ShardOf(p)
	s.Mu.Lock()
	defer s.Mu.Unlock()
	at, e, ok := s.Search(s.FingerprintOf(p))
	if !ok {
		t.Fatal("the part is not there")
	}
	x.evictEntry(s, &format.Listed{ID: p, Kind: format.IsPart}, at, e, false)
}

// A part that is evicted takes its value with it, and no other.
func TestEvictedPartTakesItsValue(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := longWorld(t, 1, vfstest.NewMem())
		for i := range 8 {
			w.come(t, w.key(i), 100<<10)
		}
		parts := checkParts(t, w.tier)
		for i := range 7 {
			evictPart(t, w.tier, w.tier.ids.Of(w.hasher.Hash(w.key(i))), i)
		}
		if left := checkParts(t, w.tier); left != parts/8 || w.tier.Len() != 1 || w.tier.Stats().Evicted != 7 {
			t.Fatalf("%d parts of %d are left, %d records, and %d were evicted", left, parts, w.tier.Len(), w.tier.Stats().Evicted)
		}
		w.wantFound(t, true, w.key(7))
	})
}

// A value that lacks a part, or has one of another write, is a miss, and goes.
func TestValueWithoutAPartIsAMiss(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := longWorld(t, 1, vfstest.NewMem())
		x, key := w.tier, w.key(1)
		for name, harm := range map[string]func(owner format.ID){
			"missing": func(owner format.ID) {
				s := x.index.ShardOf(owner)
				at, e, _ := s.Search(s.FingerprintOf(x.ids.Part(owner, 3)))
				s.RemoveAt(at)
				x.countDead(e)
			},
			"of another write": func(owner format.ID) {
				d := Transfer{t: x, owner: owner, partsPut: 3, head: format.Head{Write: 1}}
				if ok, _ := d.PutPart(make([]byte, (16+100<<10+6)/7)); !ok { // as long as the right one
					t.Fatal("no room")
				}
			},
		} {
			w.come(t, key, 100<<10)
			harm(x.ids.Of(w.hasher.Hash(key)))
			wantErr(t, errOf(w.lookUp(key)), ErrNotFound)
			if left := checkParts(t, x); left != 0 || x.Len() != 0 {
				t.Fatalf("%s: %d parts are left, and %d records", name, left, x.Len())
			}
		}
	})
}

// A value of which a part has gone before its end does not come.
func TestValueWithoutAPartDoesNotCome(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := longWorld(t, 1, vfstest.NewMem())
		key, puts := w.key(1), 0
		w.next()
		w.ram[string(key)] = value{w.bytesOf(key, w.seq, 100<<10), 0}
		if w.sink(key, func() {
			if puts++; puts == 5 {
				evictPart(t, w.tier, w.tier.ids.Of(w.hasher.Hash(key)), 1)
			}
		}) {
			t.Fatal("it came")
		}
		if n := checkParts(t, w.tier); n != 0 || w.tier.Len() != 0 || w.tier.Stats().Demoted != 0 {
			t.Fatalf("%d parts are left", n)
		}
	})
}

// A part that the disk damages is an error, and the value goes.
func TestDamagedPart(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := longWorld(t, 1, vfstest.NewMem())
		x, key := w.tier, w.key(1)
		w.come(t, key, 300<<10)
		x.log.FlushTo(x.log.Tail.Load())
		p := x.ids.Part(x.ids.Of(w.hasher.Hash(key)), 0)
		e, _ := x.index.ShardOf(p).Find(p)
		slot, off := x.log.Place(x.index.Location(e))
		at := int64(slot)<<x.log.SegmentShift + int64(off) + 1000
		block := vfs.Aligned(4096, 4096)
		if _, err := x.logFile.ReadAt(block, at&^4095); err != nil {
			t.Fatal(err)
		}
		block[at&4095] ^= 1
		if _, err := x.logFile.WriteAt(block, at&^4095); err != nil {
			t.Fatal(err)
		}
		wantErr(t, errOf(w.lookUp(key)), format.ErrCorrupt)
		if x.Stats().Corrupt != 1 || x.Len() != 0 || checkParts(t, x) != 0 {
			t.Fatalf("%d corrupt, %d records are left", x.Stats().Corrupt, x.Len())
		}
	})
}

// All yields long values once, and no parts.
func TestAllYieldsLongValues(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := longWorld(t, 1, vfstest.NewMem())
		for i, n := range []int{100, 50 << 10, 200 << 10} {
			w.come(t, w.key(i), n)
		}
		seen := map[string]int{}
		w.tier.All(func(hash uint64, key, value []byte) bool {
			if seq, err := seqOf(key, value); err != nil || seq != w.acked[string(key)] || hash != w.hasher.Hash(key) {
				t.Errorf("%s: version %d, %v", key, seq, err)
			}
			seen[string(key)]++
			return true
		})
		for i := range 3 {
			if seen[string(w.key(i))] != 1 || len(seen) != 3 {
				t.Fatalf("All yielded %v", seen)
			}
		}
	})
}

// Parts are compressed one by one.
func TestLongValueIsCompressed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, 1)
		cfg := longConfig(vfstest.NewMem(), w)
		cfg.Compress = true
		w.reopen(t, cfg)
		key := w.key(1)
		want := append(bytes.Repeat([]byte("compressible "), 20_000), w.bytesOf(key, 1, 100<<10)...) // and not
		w.ram[string(key)] = value{bytes: want}
		if !w.sink(key, nothing) {
			t.Fatal("it did not come")
		}
		f, err := w.lookUp(key)
		if s := w.tier.Stats(); err != nil || !bytes.Equal(f.Value, want) || s.CompressedFrom < 200<<10 || s.CompressedTo > 50<<10 {
			t.Fatalf("%v; %d bytes were compressed to %d", err, s.CompressedFrom, s.CompressedTo)
		}
	})
}

// The files of a tier with long values are in order, and an index is made of them
// alone.
func TestFilesWithLongValues(t *testing.T) {
	bubble(t, func(t *testing.T) {
		fs := vfstest.NewMem()
		w := longWorld(t, 1, fs)
		var keys [][]byte
		for i, n := range []int{100 << 10, 200 << 10, 300 << 10, 20 << 10, 10} {
			keys = append(keys, w.key(i))
			w.come(t, w.key(i), n)
		}
		w.close(t)
		v, err := check.Verify(background, fs, func(p check.Problem) { t.Error(p) }, nil)
		if err != nil || v.Entries < 40 {
			t.Fatalf("%d entries, %v", v.Entries, err)
		}
		for _, plan := range []string{"snapshot", "log"} {
			cfg := longConfig(fs, w)
			if plan == "log" {
				cfg.Recovery, cfg.BootID = RecoverAlways, func() string { return "another" }
			}
			w.reopen(t, cfg)
			if n := w.tier.Len(); n != len(keys) || checkParts(t, w.tier) == 0 {
				t.Fatalf("from the %s: %d records, of %d", plan, n, len(keys))
			}
			w.wantFound(t, true, keys...)
			left := fs.CrashClone(w.rng, vfstest.PowerCut)
			w.close(t)
			fs = left
		}
	})
}
