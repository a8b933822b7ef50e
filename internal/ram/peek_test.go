package ram

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firncache/firn/internal/invariants"
)

// deadlineLocked is the reference for Deadline: the writers' search, under the lock.
func (t *Tier) deadlineLocked(key []byte) (deadline int64, ok bool) {
	hash := t.Hash(key)
	s := t.shardOf(hash)
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _, r, ok := s.find(hash, key)
	if !ok || t.expired(&r) {
		return 0, false
	}
	return t.deadline(&r), true
}

// peekStaleLocked is the reference for PeekStale.
func (t *Tier) peekStaleLocked(dst, key []byte) (value []byte, deadline int64, ok bool) {
	hash := t.Hash(key)
	s := t.shardOf(hash)
	s.mu.Lock()
	defer s.unlockAndNotify()
	_, _, r, ok := s.find(hash, key)
	if !ok || t.pastGrace(&r) {
		return dst, 0, false
	}
	return append(dst, s.value(&r)...), t.deadline(&r), true
}

// Deadline and PeekStale answer as under the lock: of records of all lengths, in
// one segment and in several, with and without a deadline, around it and around the
// grace, negative ones, absent ones; in tables with and without chains.
func TestPeeksAreThoseUnderTheLock(t *testing.T) {
	t.Parallel()
	for _, mask := range []uint64{0, 0xffff_000f_0000_00ff} { // the second makes chains, and equal tags
		const grace = 3 * slack
		now := int64(1_000_000)
		tier := newUnsampled(t, Config{Bytes: 16 << 20, Seed: 1, Now: func() int64 { return now }, Ticking: true, Grace: grace, HashMask: mask})
		tier.janitor.once.Do(func() {}) // nothing is swept
		rng := rand.New(rand.NewPCG(1, 1))
		var keys [][]byte
		for range 3000 {
			key := make([]byte, rng.IntN(20)+rng.IntN(2)*40)
			for j := range key {
				key[j] = byte(rng.IntN(256))
			}
			value := make([]byte, rng.IntN(40)+rng.IntN(2)*rng.IntN(560)+rng.IntN(20)/19*rng.IntN(100_000))
			for j := range value {
				value[j] = byte(rng.Uint32())
			}
			deadline := int64(0)
			switch rng.IntN(4) {
			case 0, 1:
				deadline = now + rng.Int64N(grace+4*slack) - grace - 2*slack
			case 2:
				deadline, value = -(now + rng.Int64N(4*slack) - 2*slack), nil
			}
			if err := tier.setKey(key, value, deadline); err != nil {
				t.Fatal(err)
			}
			keys = append(keys, key, append(bytes.Clone(key), 'x'))
		}
		live, stale, negative, absent := 0, 0, 0, 0
		for _, key := range keys {
			deadline, ok := tier.deadlineOf(key)
			if want, is := tier.deadlineLocked(key); deadline != want || ok != is {
				t.Fatalf("mask %x, key %x: Deadline %d, %v; want %d, %v", mask, key, deadline, ok, want, is)
			}
			v, until, there := tier.peekStaleKey([]byte("> "), key)
			if value, want, is := tier.peekStaleLocked([]byte("> "), key); !bytes.Equal(v, value) || until != want || there != is {
				t.Fatalf("mask %x, key %x: PeekStale %d bytes, %d, %v; want %d bytes, %d, %v", mask, key, len(v), until, there, len(value), want, is)
			}
			switch {
			case ok:
				live++
			case until < 0:
				negative++
			case there:
				stale++
			default:
				absent++
			}
		}
		if min(live, stale, negative, absent-len(keys)/2) < 100 {
			t.Errorf("mask %x: %d live, %d stale, %d negative, %d absent", mask, live, stale, negative, absent)
		}
	}
}

// What only asks takes no lock, whether there is something or not.
func TestPeeksTakeNoLock(t *testing.T) {
	t.Parallel()
	now := int64(1000)
	tier := newUnsampled(t, Config{Bytes: 32 << 20, Seed: 1, Now: func() int64 { return now }, Grace: 1000})
	tier.janitor.once.Do(func() {})
	keys := []string{"absent"}
	for name, deadline := range map[string]int64{"for ever": 0, "live": 5000, "stale": 1500, "past its grace": 900, "negative": -5000, "negative and over": -1500} {
		for size, n := range map[string]int{"short": 10, "straddling": 300_000, "long": 1 << 20} {
			keys = append(keys, size+", "+name)
			if err := tier.setKey([]byte(size+", "+name), make([]byte, n), deadline); err != nil {
				t.Fatal(err)
			}
		}
	}
	now = 2000
	for i := range tier.shards {
		tier.shards[i].mu.Lock()
		defer tier.shards[i].mu.Unlock()
	}
	done, asked := make(chan struct{}), atomic.Value{}
	go func() {
		defer close(done)
		for _, key := range keys {
			for name, read := range reads(tier, []byte(key)) {
				asked.Store(name + " of " + key)
				read()
			}
		}
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatalf("%v waits for a lock", asked.Load())
	}
}

// A reader beside a writer that changes value and deadline, in place or not,
// sees those of one write, and none older than what was acknowledged before it began.
func TestPeeksBesideWrites(t *testing.T) {
	t.Parallel()
	const keys, base, life = 8, 1_000_000, 1 << 30
	rounds := 40_000
	if invariants.Race || testing.Short() {
		rounds /= 20
	}
	tier := newUnsampled(t, Config{Bytes: MinBytes, Seed: 1, Now: func() int64 { return base }})
	tier.janitor.once.Do(func() {})
	var acknowledged [keys]atomic.Int64
	var group sync.WaitGroup
	defer group.Wait()
	done := make(chan struct{})
	group.Go(func() {
		defer close(done)
		rng := rand.New(rand.NewPCG(1, 1))
		for i := range int64(rounds) {
			k := i % keys
			value := make([]byte, 8*(1+rng.IntN(2)*rng.IntN(300))) // mostly one that fits in place
			for at := 0; at < len(value); at += 8 {
				binary.LittleEndian.PutUint64(value[at:], uint64(i))
			}
			if err := tier.setKey(fmt.Append(nil, "key", k), value, base+life+i); err != nil {
				t.Error(err)
				return
			}
			acknowledged[k].Store(i)
		}
	})
	for i := int64(0); ; i++ {
		select {
		case <-done:
			return
		default:
		}
		k := i % keys
		key := fmt.Append(nil, "key", k)
		before := acknowledged[k].Load()
		if deadline, ok := tier.deadlineOf(key); ok {
			if n := deadline - base - life; n < before || n%keys != k {
				t.Fatalf("key %d: the deadline is that of write %d, after %d", k, n, before)
			}
		}
		before = acknowledged[k].Load()
		if v, deadline, ok := tier.peekStaleKey(nil, key); ok {
			n := deadline - base - life
			for at := 0; at < len(v); at += 8 {
				if is := int64(binary.LittleEndian.Uint64(v[at:])); is != n || n < before || n%keys != k {
					t.Fatalf("key %d: value of write %d, deadline of %d, after %d", k, is, n, before)
				}
			}
		}
	}
}
