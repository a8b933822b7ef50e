package ram

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// looks is a lower tier that counts how many records are looked at.
type looks struct {
	*lower
	n int
}

func (l *looks) Prefetch(uint64) { l.n++ }

// What is gone keeps little room, though what lies beside it stays for long: a 16th
// of a segment and what goes in three seconds.
func TestExpiredAmongOthersGo(t *testing.T) {
	t.Parallel()
	const second, day = 1000, 24 * 3600 * 1000
	for _, stay := range []int{1, 10, 50} { // of 100
		t.Run(fmt.Sprint(stay), func(t *testing.T) {
			now := int64(second)
			tier := newOverLower(t, 64<<10, newLower(), &now)
			rng := rand.New(rand.NewPCG(uint64(stay), 1))
			long := int64(0)
			for i := range 1200 {
				ttl := second * (10 + rng.Int64N(50))
				if rng.IntN(100) < stay {
					ttl = day
					long++
				}
				if err := tier.setKey(fmt.Append(nil, i), nil, now+ttl); err != nil {
					t.Fatal(err)
				}
			}
			for ; now < 64*second; now += second {
				tier.Sweep()
			}
			st := tier.Stats()
			all := st.SmallBytes + st.MainBytes
			each := all / st.Entries
			if most := long*each + tier.Stats().Used/16; all > most {
				t.Errorf("%d records are there: want %d, and at most %d bytes", st.Entries, long, most)
			}
			if err := tier.Check(); err != nil {
				t.Error(err)
			}
		})
	}
}

// However deadlines are mixed, a segment is looked through a few dozen times.
func TestSweepsAreFew(t *testing.T) {
	oneGoroutine(t)
	t.Parallel()
	const second, day = 1000, 24 * 3600 * 1000
	for name, ttl := range map[string]func(rng *rand.Rand) int64{
		"uniform": func(rng *rand.Rand) int64 { return rng.Int64N(day) },
		"doubling": func(rng *rand.Rand) int64 {
			return second << rng.Int64N(17)
		},
		"mostly late": func(rng *rand.Rand) int64 {
			if rng.IntN(10) == 0 {
				return rng.Int64N(day / 20)
			}
			return day - rng.Int64N(day/100)
		},
	} {
		t.Run(name, func(t *testing.T) {
			now := int64(second)
			low := &looks{lower: newLower()}
			tier := newOverLower(t, 64<<10, low, &now)
			rng := rand.New(rand.NewPCG(1, 2))
			const records = 1200
			for i := range records {
				if err := tier.setKey(fmt.Append(nil, i), nil, now+second+ttl(rng)); err != nil {
					t.Fatal(err)
				}
			}
			low.n = 0
			for ; tier.Len() > 0; now += 2 * second {
				tier.Sweep()
			}
			t.Logf("each record was looked at %.1f times", float64(low.n)/records)
			if low.n > 40*records {
				t.Errorf("%d looks at %d records", low.n, records)
			}
		})
	}
}
