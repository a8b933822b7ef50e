package ram

import (
	"encoding/binary"
	"sync"
	"testing"
	"time"

	"github.com/firncache/firn/internal/evicted"
	"github.com/firncache/firn/internal/invariants"
	"github.com/firncache/firn/internal/ram/quotas"
)

// quotaKey is a key of the namespace with a number.
func quotaKey(number, i uint64) []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, number), i)
}

func newQuotaTier(t *testing.T, cfg Config) *Tier {
	t.Helper()
	cfg.Seed, cfg.Now = 1, func() int64 { return 1000 }
	tier, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tier.Free)
	return tier
}

func checkQuotas(t *testing.T, tier *Tier) {
	t.Helper()
	if err := tier.Check(); err != nil {
		t.Error(err)
	}
}

// A flood in many goroutines stays within its quota, however many shards there are and however
// large its records are, and takes nothing of others.
func TestQuotaUnderFlood(t *testing.T) {
	t.Parallel()
	const writers, other = 16, 2
	for _, size := range []int{50, 3000} {
		tier := newQuotaTier(t, Config{Bytes: 32 << 20})
		const limit = 1 << 20
		q := tier.Quota(1, limit)
		for i := range uint64(100) {
			if err := tier.setKey(quotaKey(other, i), []byte("other"), 0); err != nil {
				t.Fatal(err)
			}
		}
		sets := uint64(4 * limit / size / writers)
		if invariants.Race {
			sets = sets/4 + 1
		}
		var wg sync.WaitGroup
		for w := range uint64(writers) {
			wg.Go(func() {
				value := make([]byte, size)
				for i := range sets {
					if err := tier.setKey(quotaKey(1, w<<32|i), value[:size-int(i%7)], 0); err != nil {
						t.Error(err)
					}
					if used, most := q.Used(), int64(limit+limit/20+writers*(size+64)); used > most {
						t.Errorf("%d bytes under a quota of %d: want at most %d", used, limit, most)
						return
					}
				}
			})
		}
		wg.Wait()
		if used := q.Used(); used > limit || used < limit-limit/20 && !invariants.Race {
			t.Errorf("records of %d bytes: %d bytes under a quota of %d", size, used, limit)
		}
		if s := tier.Stats(); s.Evicted > 0 || s.OverQuota == 0 || s.OverQuota != q.Evicted() {
			t.Errorf("%d records left for want of room, %d for the quota, which counts %d", s.Evicted, s.OverQuota, q.Evicted())
		}
		for i := range uint64(100) {
			if _, ok := tier.Get(nil, quotaKey(other, i)); !ok {
				t.Errorf("record %d of another namespace has left", i)
			}
		}
		checkQuotas(t, tier)
	}
}

// The policy keeps what is read, within the quota too.
func TestQuotaKeepsWhatIsRead(t *testing.T) {
	oneGoroutine(t)
	t.Parallel()
	tier := newQuotaTier(t, Config{Bytes: 32 << 20})
	tier.Quota(1, 100_000)
	value := make([]byte, 1000)
	sets := uint64(10_000)
	if invariants.Race {
		sets = 500
	}
	for i := range sets {
		if err := tier.setKey(quotaKey(1, i), value, 0); err != nil {
			t.Fatal(err)
		}
		for k := range uint64(10) {
			if _, ok := tier.Get(nil, quotaKey(1, min(k, i))); !ok {
				t.Fatalf("a key that is read each time has left after %d others", i)
			}
		}
	}
}

// A record that stays of each generation keeps but a few accounts.
func TestQuotaOfManyGenerations(t *testing.T) {
	t.Parallel()
	tier := newQuotaTier(t, Config{Bytes: 1 << 20})
	q := tier.Quota(1, 500_000)
	for number := range uint64(200) {
		if err := tier.setKey(quotaKey(number+1, 0), make([]byte, 1000), 0); err != nil {
			t.Fatal(err)
		}
		q.Begin(number + 2)
		q.End(number + 1)
	}
	if n := len(tier.quotas.ByNumber()); n != 9 {
		t.Errorf("%d accounts after 200 generations: want %d", n, 9)
	}
	if used := q.Used(); used < quotas.MaxEnded*1000 || used > quotas.MaxEnded*1100 {
		t.Errorf("%d bytes are counted, of %d records", used, quotas.MaxEnded)
	}
	for i := range uint64(2000) { // what does not count leaves as all others do
		if err := tier.setKey(quotaKey(1<<40, i), make([]byte, 1000), 0); err != nil {
			t.Fatal(err)
		}
	}
	checkQuotas(t, tier)
}

// What is left of a generation that ended leaves before what came later, though it was read.
func TestQuotaGenerations(t *testing.T) {
	t.Parallel()
	tier := newQuotaTier(t, Config{Bytes: 1 << 20})
	q := tier.Quota(1, 100_000)
	fill := func(number uint64) {
		t.Helper()
		for i := range uint64(90) {
			if err := tier.setKey(quotaKey(number, i), make([]byte, 1000), 0); err != nil {
				t.Fatal(err)
			}
			tier.Get(nil, quotaKey(number, i))
		}
	}
	fill(1)
	q.Begin(2)
	q.End(1)
	fill(2)
	for i := range uint64(90) {
		if _, ok := tier.Get(nil, quotaKey(2, i)); !ok {
			t.Errorf("record %d of the current generation has left, and not those of the one before", i)
		}
	}
	if used := q.Used(); used > 100_000 {
		t.Errorf("%d bytes with those of the last generation", used)
	}
	q.Begin(3)
	q.End(2)
	fill(3)
	q.Begin(4)
	if tier.quotas.Account(1) != nil {
		t.Error("a generation is counted that has no records any more")
	}
	q.Close()
	if !tier.Clear() {
		t.Fatal("closed")
	}
	if again := tier.Quota(5, 100_000); again == q || len(tier.quotas.ByNumber()) != 1 {
		t.Errorf("%d accounts are left of a namespace that is closed, and empty", len(tier.quotas.ByNumber()))
	}
	checkQuotas(t, tier)
}

// Records that were there before the quota are not counted until they are written.
func TestQuotaOfWhatIsThere(t *testing.T) {
	t.Parallel()
	tier := newQuotaTier(t, Config{Bytes: 1 << 20})
	for i := range uint64(100) {
		if err := tier.setKey(quotaKey(1, i), make([]byte, 100), 0); err != nil {
			t.Fatal(err)
		}
	}
	if q := tier.Quota(1, 0); q != nil || !tier.quotas.None() {
		t.Error("a namespace without a quota is counted")
	}
	q := tier.Quota(1, 100_000)
	tier.deleteKey(quotaKey(1, 0))
	if err := tier.setKey(quotaKey(1, 1), make([]byte, 200), 0); err != nil {
		t.Fatal(err)
	}
	if used := q.Used(); used < 200 || used > 300 {
		t.Errorf("%d bytes are counted: want those of one record of 200", used)
	}
	checkQuotas(t, tier)
	if err := tier.setKey(quotaKey(1, 2), make([]byte, 100_000), 0); err != ErrTooLarge {
		t.Errorf("a record larger than the quota: %v, want %v", err, ErrTooLarge)
	}
	if same := tier.Quota(1, 0); same != q {
		t.Error("a namespace that was counted is not any more")
	}
	if err := tier.setKey(quotaKey(1, 2), make([]byte, 100_000), 0); err != nil {
		t.Errorf("a record larger than the quota was: %v", err)
	}
	checkQuotas(t, tier)
}

// A lower quota holds at once, also for what lies in the segment that is being drained.
func TestQuotaInADrain(t *testing.T) {
	t.Parallel()
	tier := newQuotaTier(t, Config{Bytes: 2 << 30}) // long segments
	least, _ := tier.Bounds()
	if err := tier.SetBytes(least); err != nil {
		t.Fatal(err)
	}
	q := tier.Quota(1, 1<<20)
	s := &tier.shards[0]
	for i := uint64(0); s.held.Load() < 3; i++ {
		if key := quotaKey(1, i); tier.shardOf(tier.Hash(key)) == s && s.held.Load() < 2 {
			if err := tier.setKey(key, make([]byte, 1000), 0); err != nil {
				t.Fatal(err)
			}
		} else if key := quotaKey(2, i); tier.shardOf(tier.Hash(key)) == s {
			if err := tier.setKey(key, make([]byte, 1000), 0); err != nil {
				t.Fatal(err)
			}
		}
	}
	s.mu.Lock()
	for range 10 {
		if s.drain.id == 0 {
			s.reclaimStep()
		}
	}
	id := s.drain.id
	s.unlockAndNotify()
	if id == 0 {
		t.Fatal("no drain is under way")
	}
	tier.Quota(1, 4000)
	tier.HoldQuota(q)
	if used := q.Used(); used > 4000 {
		t.Errorf("%d bytes under a quota that was lowered to 4000", used)
	}
	checkQuotas(t, tier)
}

// An OnEvict that is called for the memory of an account may open another one.
func TestQuotaOpenedByOnEvict(t *testing.T) {
	t.Parallel()
	var tier *Tier
	opened, inside, opens := 0, 0, false
	open := func() {
		opened++
		tier.HoldQuota(tier.Quota(uint64(opened), 100_000))
	}
	tier = newQuotaTier(t, Config{Bytes: 1 << 20, OnEvict: func([]byte, []byte, evicted.Cause) {
		if opens && inside < 20 {
			inside++
			open()
		}
	}})
	for i := range uint64(2000) {
		if err := tier.setKey(quotaKey(1_000_000, i), make([]byte, 1000), 0); err != nil {
			t.Fatal(err)
		}
	}
	before := tier.reserved.Load()
	charged := func() int64 { return tier.reserved.Load() - before - int64(len(tier.segs)) }
	for opens = true; inside == 0 && opened < 10_000; { // there may be a little room before one evicts
		ends(t, "HoldQuota", open)
	}
	opens = false
	many := opened
	all := charged()
	open()
	if each := charged() - all; inside == 0 || all != int64(many)*each {
		t.Errorf("%d quotas, %d of them by OnEvict, for which %d bytes are charged: want %d each", many, inside, all, each)
	}
	checkQuotas(t, tier)
}

// awaited is a lower tier that is busy until a writer waits for it.
type awaited struct{ *lower }

func (l awaited) WaitForRoom(waited time.Duration) (time.Duration, bool) {
	if waited != noWait {
		l.busy.Store(false)
	}
	return waited, !l.busy.Load()
}

// What leaves for a quota that is lowered waits for a slow lower tier, and is not lost to it.
func TestQuotaWaitsForLowerTier(t *testing.T) {
	t.Parallel()
	low := awaited{newLower()}
	low.admit = func() bool { return !low.busy.Load() }
	tier := newQuotaTier(t, Config{Bytes: 4 << 20, Lower: low})
	tier.Quota(1, 1<<20)
	for i := range uint64(500) {
		if err := tier.setKey(quotaKey(1, i), make([]byte, 1000), 0); err != nil {
			t.Fatal(err)
		}
		tier.Get(nil, quotaKey(1, i))
	}
	low.busy.Store(true)
	q := tier.Quota(1, 10_000)
	tier.HoldQuota(q)
	if s := tier.Stats(); q.Used() > 10_000 || s.Demoted < 480 || s.OverQuota > 0 {
		t.Errorf("%d bytes are left, %d records are in the lower tier and %d lost: want 10,000, all and none", q.Used(), s.Demoted, s.OverQuota)
	}
	checkQuotas(t, tier)
}
