package ram

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/firncache/firn/internal/evicted"
	"github.com/firncache/firn/internal/ram/quotas"
)

// quotaModel is a tier with namespaces, and random calls of it.
type quotaModel struct {
	t      interface{ Fatalf(string, ...any) }
	below  func(n int) int // a random number below n
	tier   *Tier
	now    int64
	limits [3]int64 // 0: no quota
	quotas [3]*quotas.Quota
	number [3]uint64 // of the current generation
	last   uint64
	causes map[evicted.Cause]int
}

// newQuotaModel makes one over so many bytes; with parts, over a lower tier that takes long records
// in parts.
func newQuotaModel(t interface{ Fatalf(string, ...any) }, bytes int64, below func(n int) int, over LowerTier, parts bool) *quotaModel {
	m := &quotaModel{t: t, below: below, now: 1000, causes: map[evicted.Cause]int{}, limits: [3]int64{0, min(bytes/4, 60_000), min(bytes/20, 12_000)}}
	tier, err := New(Config{
		Bytes: bytes, MaxBytes: 2 * bytes, Seed: 1, Lower: over, Now: func() int64 { return m.now },
		OnEvict: func(_, _ []byte, cause evicted.Cause) { m.causes[cause]++ },
	})
	if err != nil {
		t.Fatalf("%v", err)
	}
	if low, ok := over.(*lower); ok && parts {
		newInParts(tier, low).crowded = 3
	}
	tier.janitor.once.Do(func() {})
	m.tier = tier
	for i := range m.limits {
		m.open(i)
	}
	return m
}

// open begins a generation of a namespace.
func (m *quotaModel) open(i int) {
	m.last++
	old := m.number[i]
	m.number[i] = m.last * 0x9e3779b97f4a7c15
	if q := m.quotas[i]; q != nil {
		q.Begin(m.number[i])
		q.End(old)
		return
	}
	m.quotas[i] = m.tier.Quota(m.number[i], m.limits[i])
}

func (m *quotaModel) key() []byte {
	key := binary.LittleEndian.AppendUint64(nil, m.number[m.below(len(m.number))])
	return binary.LittleEndian.AppendUint16(key, uint16(m.below(200)))
}

func (m *quotaModel) value() []byte {
	return make([]byte, []int{0, 10, 100, 1000, 5000}[m.below(5)]+m.below(8))
}

func (m *quotaModel) deadline() int64 {
	if m.below(2) == 0 {
		return 0
	}
	return m.now + int64(m.below(5000))
}

func (m *quotaModel) step() {
	key := m.key()
	switch m.below(20) {
	default:
		if err := m.tier.setKey(key, m.value(), m.deadline()); err != nil && err != ErrTooLarge {
			m.t.Fatalf("%v", err)
		}
	case 0, 1:
		m.tier.deleteKey(key)
	case 2, 3, 4:
		m.tier.Get(nil, key)
	case 5:
		if _, err := m.tier.Touch(m.tier.Hash(key), key, m.deadline()); err != nil && err != ErrTooLarge {
			m.t.Fatalf("%v", err)
		}
	case 6:
		m.now += 2000
		m.tier.Sweep()
	case 7:
		if m.below(10) > 0 {
			return
		}
		m.open(m.below(len(m.quotas)))
	case 8:
		if m.below(30) == 0 {
			m.tier.Clear()
		}
	case 9:
		least, most := m.tier.Bounds()
		if err := m.tier.SetBytes(min(least+int64(m.below(2<<20)), most)); err != nil {
			m.t.Fatalf("%v", err)
		}
	case 10:
		i := 1 + m.below(2)
		m.limits[i] = max(m.limits[i]+int64(m.below(2000))-1000, 4000)
		if q := m.tier.Quota(m.number[i], m.limits[i]); q != m.quotas[i] {
			m.t.Fatalf("the number %#x has another quota", m.number[i])
		}
		m.tier.HoldQuota(m.quotas[i])
	}
}

// holds fails unless every quota holds, within its slack.
func (m *quotaModel) holds() {
	for i, q := range m.quotas {
		if limit := m.limits[i]; q != nil && q.Used() > limit+limit/32 {
			m.t.Fatalf("%d bytes under a quota of %d", q.Used(), limit)
		}
	}
}

// check compares the accounts with the records that are there.
func (m *quotaModel) check() {
	if err := m.tier.Check(); err != nil {
		m.t.Fatalf("%v", err)
	}
	if n := m.tier.Stats().OverQuota; n != uint64(m.causes[evicted.OverQuota]) || n != m.quotas[1].Evicted()+m.quotas[2].Evicted() {
		m.t.Fatalf("%d records left for a quota, by the counter; OnEvict heard of %d, the quotas of %d and %d",
			n, m.causes[evicted.OverQuota], m.quotas[1].Evicted(), m.quotas[2].Evicted())
	}
}

// Whatever is called, the accounts have the bytes of the records that are there, and quotas hold.
func TestQuotaModel(t *testing.T) {
	oneGoroutine(t)
	t.Parallel()
	for _, bytes := range []int64{MinBytes, 512 << 10, 8 << 20, 2 << 30} { // the last makes long segments
		for _, below := range []string{"nothing", "a sieve", "parts"} {
			t.Run(fmt.Sprintf("%d over %s", bytes, below), func(t *testing.T) {
				t.Parallel()
				var over LowerTier
				switch below {
				case "a sieve":
					over = sieve{}
				case "parts":
					over = newLower()
				}
				rng := rand.New(rand.NewPCG(uint64(bytes), 1))
				m := newQuotaModel(t, bytes, rng.IntN, over, below == "parts")
				defer m.tier.Free()
				for i := range sized(5000, 100_000) {
					m.step()
					m.holds()
					if i%50 == 0 {
						m.check()
					}
				}
				m.check()
				if m.tier.Stats().OverQuota+m.tier.Stats().Demoted == 0 {
					t.Error("no record has left")
				}
			})
		}
	}
}

func TestQuotaModelRapid(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		draw := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "choice") }
		m := newQuotaModel(t, MinBytes, draw, nil, false)
		defer m.tier.Free()
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			m.step()
			m.holds()
		}
		m.check()
	})
}
