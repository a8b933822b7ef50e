package ram

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/firncache/firn/internal/cachetest"
	"github.com/firncache/firn/internal/evicted"
)

// modelStore is a Tier as the model's machine calls it.
type modelStore struct {
	*Tier
	clock *cachetest.Clock
}

func (s modelStore) Set(key, value []byte, ttl time.Duration) error {
	return s.Tier.setKey(key, value, s.deadlineIn(ttl))
}

func (s modelStore) Delete(key []byte) error {
	if !s.Tier.deleteKey(key) {
		return ErrClosed
	}
	return nil
}

func (s modelStore) Clear() error {
	if !s.Tier.Clear() {
		return ErrClosed
	}
	return nil
}

func (s modelStore) Has(key []byte) bool {
	_, ok := s.deadlineOf(key)
	return ok
}

func (s modelStore) TTL(key []byte) (time.Duration, bool) {
	d, ok := s.deadlineOf(key)
	switch {
	case !ok:
		return 0, false
	case d == 0:
		return cachetest.Forever, true
	}
	return time.Duration(d-s.clock.Millis()) * time.Millisecond, ok
}

func (s modelStore) Touch(key []byte, ttl time.Duration) (bool, error) {
	ok, err := s.Tier.Touch(s.Hash(key), key, s.deadlineIn(ttl))
	if err == ErrTooLarge { // it was stored before the budget was lowered
		return false, cachetest.ErrSkipped
	}
	return ok, err
}

// deadlineIn is the deadline of what lives for ttl.
func (s modelStore) deadlineIn(ttl time.Duration) int64 {
	if ttl == 0 || ttl == cachetest.Forever {
		return 0
	}
	return s.clock.Millis() + ttl.Milliseconds()
}

func (s modelStore) GetMulti(keys [][]byte) (values [][]byte, ok []bool) {
	var b Batch
	s.Tier.GetMulti(&b, keys)
	for i := range keys {
		v, found := b.Value(i)
		values, ok = append(values, v), append(ok, found)
	}
	return values, ok
}

func (s modelStore) SetMulti(keys, values [][]byte) error {
	_, err := s.Tier.SetMulti(keys, values, 0, nil)
	return err
}

func (s modelStore) TooLarge(err error) bool { return errors.Is(err, ErrTooLarge) }

// newMachine makes a tier and a machine that drives it. Time passes, and what
// expired is swept, only when the machine says so.
func newMachine(t interface{ Fatal(...any) }, bytes int64, mask uint64, keys [][]byte) *cachetest.Machine {
	return newMachineOf(t, Config{}, bytes, mask, keys)
}

func newMachineOf(t interface{ Fatal(...any) }, cfg Config, bytes int64, mask uint64, keys [][]byte) *cachetest.Machine {
	clock := &cachetest.Clock{}
	m := &cachetest.Machine{Clock: clock, Bytes: bytes, Keys: keys}
	cfg.Bytes, cfg.MaxBytes, cfg.Seed, cfg.Now, cfg.HashMask = bytes, 4*bytes, 1, clock.Millis, mask
	cfg.OnEvict = func(key, value []byte, cause evicted.Cause) { m.Evicted(key, value, cachetest.Cause(cause)) }
	tier, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	tier.janitor.once.Do(func() {})
	m.Store = modelStore{tier, clock}
	return m
}

func freeMachine(m *cachetest.Machine) { m.Store.(modelStore).Free() }

// masks keep few bits of the hash: equal tags, equal buckets, equal shards, one
// hash for all keys.
var masks = map[string]uint64{
	"all":      0,
	"1 tag":    ^uint64(0x3fff << 32),
	"2 tags":   ^uint64(0x3fff<<32) | 1<<32,
	"1 home":   0xffff_ffff_0000_0000,
	"1 shard":  1<<58 - 1,
	"4 hashes": 3,
	"1 hash":   1 << 63, // or two, where there are shards
}

// Every call against the model, whatever collides.
func TestModel(t *testing.T) {
	oneGoroutine(t)
	t.Parallel()
	for name, mask := range masks {
		for _, bytes := range modelSizes(mask) {
			t.Run(fmt.Sprintf("%s/%d", name, bytes), func(t *testing.T) {
				rng := cachetest.Random{Rand: rand.New(rand.NewPCG(uint64(bytes), mask))}
				m := newMachine(t, bytes, mask, cachetest.Keys(120, int(bytes/20)))
				defer freeMachine(m)
				for i := range modelSteps(bytes) {
					if err := m.Step(rng); err != nil {
						t.Fatalf("step %d: %v", i, err)
					}
				}
				if err := m.Finish(); err != nil {
					t.Fatal(err)
				}
			})
		}
	}
}

// choices makes rapid draw a machine's choices, so that it can shrink them.
type choices struct{ *rapid.T }

func (c choices) Below(n int) int { return rapid.IntRange(0, n-1).Draw(c.T, "choice") }

func TestModelRapid(t *testing.T) {
	oneGoroutine(t)
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		bytes := int64(rapid.SampledFrom([]int{64 << 10, 100_000, 1 << 20}).Draw(t, "bytes"))
		mask := rapid.SampledFrom([]uint64{0, 3, 1 << 63}).Draw(t, "mask")
		m := newMachine(t, bytes, mask, cachetest.Keys(40, int(bytes/20)))
		defer freeMachine(m)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			if err := m.Step(choices{t}); err != nil {
				t.Fatal(err)
			}
		}
		if err := m.Finish(); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzModel(f *testing.F) {
	rng := rand.NewChaCha8([32]byte{1})
	for _, n := range []int{20, 100, cachetest.FuzzBytes} {
		input := make([]byte, n)
		rng.Read(input)
		f.Add(input, uint8(n))
	}
	f.Fuzz(func(t *testing.T, input []byte, kind uint8) {
		mask := []uint64{0, 3, 1 << 63, ^uint64(0x3fff << 32)}[kind%4]
		m := newMachine(t, 64<<10<<(kind/4%3), mask, cachetest.Keys(60, 3<<10))
		defer freeMachine(m)
		for src := cachetest.Fuzzed(input); len(src.Rest) > 0; {
			if err := m.Step(src); err != nil {
				t.Fatal(err)
			}
		}
		if err := m.Finish(); err != nil {
			t.Fatal(err)
		}
	})
}
