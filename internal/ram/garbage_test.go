package ram

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"testing"
	"time"
	"unsafe"

	"github.com/firncache/firn/internal/index"
	"github.com/firncache/firn/internal/invariants"
	"github.com/firncache/firn/internal/offheap"
	"github.com/firncache/firn/internal/policy"
)

// A reader that is interrupted in a bucket finds other bytes there when the
// bucket's memory was reused for records: a user's bytes, in the worst case.
// These tests put such bytes under a reader.

func newTier(t testing.TB, bytes int64) *Tier {
	tier, err := New(Config{Bytes: bytes, Seed: 1, Now: func() int64 { return 1000 }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tier.Free)
	return tier
}

// forge overwrites the bucket where a search for key begins: every slot matches
// the key's tag.
func forge(t *Tier, key []byte, link uint32, loc func(i int) uint32) (s *shard, hash uint64) {
	hash = t.Hash(key)
	s = t.shardOf(hash)
	bucket := t.region.Bytes(s.table.Offset(index.Home(hash, s.table.Shape())), index.BucketSize)
	for i := range index.Slots {
		binary.LittleEndian.PutUint16(bucket[2*i:], uint16(index.TagOf(hash)))
		binary.LittleEndian.PutUint32(bucket[24+4*i:], loc(i))
	}
	binary.LittleEndian.PutUint32(bucket[20:], link)
	return s, hash
}

// Locations and links that lead anywhere are followed without a fault.
func TestReaderAmongGarbage(t *testing.T) {
	t.Parallel()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	for _, bytes := range []int64{64 << 10, 1 << 20, 33 << 20} {
		t.Run(fmt.Sprint(bytes), func(t *testing.T) {
			tier := newTier(t, bytes)
			tier.tuner = policy.NewTuner(0) // no key is sampled: see newUnsampled
			rng := rand.New(rand.NewPCG(1, uint64(bytes)))
			filler := make([]byte, min(tier.MaxRecord()-8, 100_000))
			for i := range filler {
				filler[i] = byte(rng.Uint32())
			}
			for i := range 20 { // garbage to be led to
				if err := tier.setKey(fmt.Append(nil, i), filler, 0); err != nil {
					t.Fatal(err)
				}
			}
			key := []byte("a reader")
			end := uint32(tier.region.Size() >> tier.unitShift)
			rounds := 20_000
			if invariants.Race { // where bytes move by atomic words
				rounds = 500
			}
			for round := range rounds {
				link := rng.Uint32() >> rng.IntN(33)
				s, hash := forge(tier, key, link, func(i int) uint32 {
					if round%5 == 0 { // so that the link is followed
						return 0
					}
					switch (i + round) % 4 { // Get looks at the first alone
					case 0:
						return end - 1 - rng.Uint32N(200)
					case 1:
						return uint32(tier.ghostAt>>tier.unitShift) + rng.Uint32N(64) - 32
					case 2:
						return rng.Uint32N(uint32(4 * bytes >> tier.unitShift))
					default:
						return rng.Uint32()
					}
				})
				tier.get(s, nil, key, hash, forValue)
				for name, read := range reads(tier, key) {
					refuses(t, name, read)
				}
			}
		})
	}
}

// reads are the reads that take no lock, of one key.
func reads(tier *Tier, key []byte) map[string]func() {
	hash, dst := tier.Hash(key), make([]byte, 0, 600)
	return map[string]func(){
		"Get":       func() { tier.Get(dst, key) },
		"PeekStale": func() { tier.PeekStale(hash, dst, key) },
		"Deadline":  func() { tier.Deadline(hash, key) },
	}
}

// refuses reports whether a read makes nothing of a bucket or a record: it looks
// again and again, in the end with the lock, and gives up.
func refuses(t *testing.T, name string, read func()) (gaveUp bool) {
	t.Helper()
	defer func() {
		switch r := recover().(type) {
		case nil:
		case runtime.Error:
			t.Fatalf("%s: %v", name, r)
		default:
			gaveUp = true
		}
	}()
	read()
	return false
}

// A record that is being overwritten is not returned.
func TestGetDuringOverwrite(t *testing.T) {
	t.Parallel()
	tier := newUnsampled(t, Config{Bytes: 1 << 20, Seed: 1, Now: func() int64 { return 1 }})
	key := []byte("a reader")
	if err := tier.setKey(key, make([]byte, 40), 0); err != nil {
		t.Fatal(err)
	}
	hash := tier.Hash(key)
	s := tier.shardOf(hash)
	_, _, r, _ := s.find(hash, key)
	h := tier.header(r.off)
	for name, read := range reads(tier, key) {
		if refuses(t, name, read) {
			t.Errorf("%s refuses a whole record", name)
		}
		h.version.Add(1)
		if !refuses(t, name, read) {
			t.Errorf("%s returns a record that is being overwritten", name)
		}
		h.version.Add(1)
	}
}

// A bucket that leads to itself does not hold a reader once its memory is known
// to be reused.
func TestReaderInACircle(t *testing.T) {
	t.Parallel()
	tier := newTier(t, 1<<20)
	key := []byte("a reader")
	hash := tier.Hash(key)
	s := tier.shardOf(hash)
	fill(t, tier, 2000, 0) // so that the index has overflow buckets
	const first = 1        // the link to one of them
	forge(tier, key, first, func(int) uint32 { return 0 })
	b := s.table.Next(s.table.Bucket(index.Home(hash, s.table.Shape())))
	at := uintptr(unsafe.Pointer(b)) - uintptr(unsafe.Pointer(offheap.At[byte](tier.region, 0)))
	bucket := tier.region.Bytes(uint64(at), index.BucketSize)
	clear(bucket)
	binary.LittleEndian.PutUint32(bucket[20:], first)
	if at == 0 || s.table.Next(b) != b {
		t.Fatal("there is no circle")
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		tier.get(s, nil, key, hash, forValue)
	}()
	for hangs := time.After(time.Minute); ; runtime.Gosched() {
		s.epoch.Add(1) // the reader may have begun after the one before
		select {
		case <-done:
			return
		case <-hangs:
			t.Fatal("the reader does not end")
		default:
		}
	}
}
