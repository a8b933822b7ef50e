package ram

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/firncache/firn/internal/evicted"
	"github.com/firncache/firn/internal/policy"
	"github.com/firncache/firn/internal/watch"
)

// newOverLower makes a tier over low. Its clock stands at *now; nothing is swept
// by itself.
func newOverLower(t testing.TB, size int64, low LowerTier, now *int64) *Tier {
	tier, err := New(Config{Bytes: size, Seed: 1, Now: func() int64 { return *now }, Lower: low})
	if err != nil {
		t.Fatal(err)
	}
	tier.janitor.once.Do(func() {})
	t.Cleanup(tier.Free)
	return tier
}

// Every write that takes effect invalidates its hash once, if there may be a record of
// the key in the lower tier, and nothing else does.
func TestInvalidate(t *testing.T) {
	t.Run("with a lower copy", func(t *testing.T) { testInvalidate(t, true) })
	t.Run("without", func(t *testing.T) { testInvalidate(t, false) })
}

func testInvalidate(t *testing.T, copied bool) {
	now := int64(1000)
	low := newLower()
	tier := newOverLower(t, 64<<10, low, &now)
	var got []uint64
	low.invalidate = func(hash uint64) {
		got = append(got, hash)
		if mu := &tier.shardOf(hash).mu; mu.TryLock() {
			mu.Unlock()
			t.Errorf("hash %#x was invalidated with its shard unlocked", hash)
		}
	}
	key := []byte("key")
	var left evicted.List
	w := watch.Watch{Written: watch.WrittenFunc(func() {})} // it outlives its own writes
	ok := func(done bool) error {
		if !done {
			return ErrClosed
		}
		return nil
	}
	for _, step := range []struct {
		name string
		run  func() error
		fail error
		none bool // it invalidates nothing
		may  bool // the key is not here, or was promoted: it invalidates the lower copy that there may be
	}{
		{name: "Set of a new key", may: true, run: func() error { return tier.setKey(key, []byte("one"), 0) }},
		{name: "Set of the same length", run: func() error { return tier.setKey(key, []byte("two"), 0) }},
		{name: "Set of another length", run: func() error { return tier.setKey(key, []byte("three"), 0) }},
		{name: "Set with a deadline", run: func() error { return tier.setKey(key, []byte("three"), 5000) }},
		{name: "Set of the same length with a deadline", run: func() error { return tier.setKey(key, []byte("threa"), 6000) }},
		{name: "Set that straddles", run: func() error { return tier.setKey(key, make([]byte, 5000), 0) }},
		{name: "Set of a long value", run: func() error { return tier.Set(tier.Hash(key), key, make([]byte, 5000), 0) }},
		{name: "SetIf", run: func() error {
			tier.watchKey(&w, key)
			return tier.SetIf(&w, []byte("four"), 0, &left)
		}},
		{name: "DeleteIf", run: func() error { return tier.DeleteIf(&w, &left) }},
		{name: "DeleteIf of what is not here", may: true, run: func() error { return tier.DeleteIf(&w, &left) }},
		{name: "Set of what is watched", may: true, run: func() error { return tier.setKey(key, []byte("x"), 0) }},
		{name: "SetIf when it was written", run: func() error { return tier.SetIf(&w, []byte("five"), 0, &left) }, fail: watch.ErrChanged, none: true},
		{name: "DeleteIf when it was written", run: func() error { return tier.DeleteIf(&w, &left) }, fail: watch.ErrChanged, none: true},
		{name: "SetMulti", run: func() error {
			_, err := tier.SetMulti([][]byte{key}, [][]byte{[]byte("six")}, 0, nil)
			return err
		}},
		{name: "Set that is too large", run: func() error { return tier.setKey(key, make([]byte, 60<<10), 0) }, fail: ErrTooLarge, none: true},
		{name: "Delete of what the failed Set has removed", may: true, run: func() error { return ok(tier.deleteKey(key)) }},
		{name: "Delete of an absent key", may: true, run: func() error { return ok(tier.deleteKey(key)) }},
		{name: "Delete of an absent key again", may: true, run: func() error { return ok(tier.Delete(tier.Hash(key), key)) }},
		{name: "Promote", run: func() error {
			low.held[tier.Hash(key)] = &lowRecord{key: key, token: 1}
			if !tier.Promote(tier.Hash(key), key, []byte("seven"), 1500, 1) {
				return fmt.Errorf("refused")
			}
			return nil
		}, none: true},
		{name: "Set of what was promoted", may: true, run: func() error { return tier.setKey(key, []byte("eight"), 1500) }},
		{name: "Set again, in place", run: func() error { return tier.setKey(key, []byte("nine."), 1500) }, none: true},
		{name: "expiry", run: func() error { now = 2000; tier.Sweep(); return nil }, none: true},
		{name: "Clear", run: func() error { return ok(tier.Clear()) }, none: true},
		{name: "SetBytes", run: func() error { return tier.SetBytes(64 << 10) }, none: true},
		{name: "Close", run: func() error { return ok(tier.Close()) }, none: true},
		{name: "Set after Close", run: func() error { return tier.setKey(key, nil, 0) }, fail: ErrClosed, none: true},
		{name: "Delete after Close", run: func() error { return ok(tier.deleteKey(key)) }, fail: ErrClosed, none: true},
	} {
		if copied && !step.none && tier.Len() > 0 && !tier.DemoteCopy(tier.Hash(key), key) {
			t.Errorf("before %s: the copy was refused", step.name)
		}
		got = nil
		if err := step.run(); err != step.fail {
			t.Errorf("%s: %v, want %v", step.name, err, step.fail)
		}
		want := []uint64{tier.Hash(key)}
		if step.none || !copied && !step.may {
			want = nil
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: invalidated %x, want %x", step.name, got, want)
		}
	}
}

// A record is demoted as read if its key was read at any time, however often
// it moved since.
func TestDemotedAsRead(t *testing.T) {
	oneGoroutine(t)
	now := int64(1000)
	low := newLower()
	tier := newOverLower(t, 256<<10, low, &now)
	read, wrong := map[string]bool{}, 0
	counts := map[bool]int{}
	low.seen = func(_ uint64, key []byte, r bool) {
		counts[r]++
		if r != read[string(key)] {
			wrong++
		}
		delete(read, string(key))
	}
	low.admit = func() bool { return false }
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range 20_000 {
		key := fmt.Appendf(nil, "%d", i)
		if err := tier.setKey(key, make([]byte, rng.IntN(300)), 0); err != nil {
			t.Fatal(err)
		}
		for k := range []int{1, 2, 7}[i%3] { // one, two or seven reads of older keys, few of them often
			key := fmt.Appendf(nil, "%d", i-rng.IntN(1000<<k/64+1))
			if _, ok := tier.Get(nil, key); ok {
				read[string(key)] = true
			}
			if rng.IntN(20) == 0 { // written anew, as long as before or not: it stays the same key
				if _, ok := tier.deadlineOf(key); ok {
					if err := tier.setKey(key, make([]byte, rng.IntN(300)), 0); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
	if tier.Stats().Reinserted == 0 || counts[true] == 0 || counts[false] == 0 {
		t.Fatalf("%d reinserted, demoted read or not: %v: want some of each", tier.Stats().Reinserted, counts)
	}
	if wrong > 0 {
		t.Errorf("%d of %v records were demoted as what they were not", wrong, counts)
	}
}

// That a key was read outlives its frequency: when the record moves, and when
// another takes its place.
func TestReadIsRemembered(t *testing.T) {
	now := int64(1000)
	low := newLower()
	tier := newOverLower(t, 64<<10, low, &now)
	s, key := &tier.shards[0], []byte("key")
	hash := tier.Hash(key)
	var told []bool
	low.seen = func(h uint64, _ []byte, read bool) {
		if h == hash {
			told = append(told, read)
		}
	}
	if err := tier.setKey(key, make([]byte, 100), 0); err != nil {
		t.Fatal(err)
	}
	fill(t, tier, 50, 50) // it does not lie in the open segment
	tier.DemoteAll(0, always, new(evicted.List))
	tier.Get(nil, key)
	tier.DemoteAll(0, always, new(evicted.List))
	s.mu.Lock()
	s.clean(s.queues[policy.Main].Head)
	b, slot, _, ok := s.find(hash, key)
	if !ok {
		t.Fatal("the key is gone")
	}
	b.SetFreq(slot, 0)
	s.mu.Unlock()
	tier.DemoteAll(0, always, new(evicted.List))
	for _, n := range []int{100, 101, 5000} { // in place, moved, straddling
		if err := tier.setKey(key, make([]byte, n), 0); err != nil {
			t.Fatal(err)
		}
		tier.DemoteAll(0, always, new(evicted.List))
	}
	if want := []bool{false, true, true, true, true, true}; !slices.Equal(told, want) {
		t.Errorf("demoted as read: %v, want %v", told, want)
	}
}

// Cleaning demotes what it has no room to copy.
func TestCleaningDemotes(t *testing.T) {
	now := int64(1000)
	low := newLower()
	tier := newOverLower(t, 64<<10, low, &now)
	fill(t, tier, 100, 200)
	s, p := &tier.shards[0], &tier.pool
	s.mu.Lock()
	limit := p.Limit
	p.Limit = 0 // nothing to copy to but the rest of the open segment
	for range 3 {
		s.clean(s.queues[policy.Main].Head)
	}
	p.Limit = limit
	s.mu.Unlock()
	if st := tier.Stats(); st.Demoted == 0 || st.Evicted > 0 || st.Entries+int64(len(low.held)) != 100 {
		t.Errorf("%d demoted, %d evicted, %d left: want some, none, and 100 together", st.Demoted, st.Evicted, st.Entries)
	}
	if err := tier.Check(); err != nil {
		t.Error(err)
	}
}

// fill sets keys 0 to n-1.
func fill(t testing.TB, tier *Tier, n, size int) {
	for i := range n {
		if err := tier.setKey(fmt.Appendf(nil, "fill %d", i), make([]byte, size), 0); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPromote(t *testing.T) {
	now := int64(1000)
	low := newLower()
	tier := newOverLower(t, 64<<10, low, &now)
	key := []byte("key")
	hash := tier.Hash(key)
	for _, c := range []struct {
		name     string
		inRAM    int64 // deadline of the record in RAM, -1 for none
		token    uint64
		deadline int64
		value    int
		want     bool
	}{
		{"absent in RAM", -1, 7, 0, 10, true},
		{"in RAM already", 0, 7, 0, 10, false},
		{"in RAM, with a deadline", 5000, 7, 0, 10, false},
		{"in RAM, and expired", 900, 7, 0, 10, true},
		{"of another token", -1, 8, 0, 10, false},
		{"with a deadline", -1, 7, 5000, 10, true},
		{"expired", -1, 7, 900, 10, false},
		{"straddling", -1, 7, 0, 5000, true},
		{"too large", -1, 7, 0, 16<<10 - 2, false},
		{"as large as may be", -1, 7, 0, 16<<10 - 3, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			tier.deleteKey(key)
			if c.inRAM >= 0 {
				if err := tier.setKey(key, []byte("in RAM"), c.inRAM); err != nil {
					t.Fatal(err)
				}
			}
			low.held[hash] = &lowRecord{key: key, token: 7}
			before := tier.Stats()
			value := bytes.Repeat([]byte{1}, c.value)
			if got := tier.Promote(hash, key, value, c.deadline, c.token); got != c.want {
				t.Fatalf("%v, want %v", got, c.want)
			}
			st := tier.Stats()
			if n := st.Promoted - before.Promoted; n == 1 != c.want || n > 1 || st.Sets() != before.Sets() {
				t.Errorf("%d promoted, %d set", n, st.Sets()-before.Sets())
			}
			if n := st.Expired - before.Expired; n == 1 != (c.inRAM == 900) {
				t.Errorf("%d expired", n)
			}
			v, ok := tier.Get(nil, key)
			if c.want && !bytes.Equal(v, value) || !c.want && ok && string(v) != "in RAM" {
				t.Errorf("%d bytes afterwards, %v", len(v), ok)
			}
			if d, _ := tier.Deadline(hash, key); c.want && d != c.deadline {
				t.Errorf("deadline %d, want %d", d, c.deadline)
			}
			if err := tier.Check(); err != nil {
				t.Error(err)
			}
		})
	}
	tier.Close()
	if tier.Promote(hash, key, nil, 0, 7) {
		t.Error("promoted into a closed tier")
	}
}

// A promotion makes nothing leave that the lower tier has no room for; a Set does,
// after it has waited.
func TestPromoteYields(t *testing.T) {
	now := int64(1000)
	low := newLower()
	tier := newOverLower(t, 64<<10, low, &now)
	key := []byte("key")
	hash := tier.Hash(key)
	low.held[hash] = &lowRecord{key: key, token: 7}
	low.busy.Store(true)
	if !tier.Promote(hash, key, []byte("value"), 0, 7) {
		t.Fatal("not promoted while there is room in RAM")
	}
	tier.deleteKey(key)
	fill(t, tier, 2000, 100)
	low.held[hash] = &lowRecord{key: key, token: 7}
	before := tier.Stats()
	if before.Demoted == 0 {
		t.Fatalf("%+v: a Set makes no room", before)
	}
	for range 100 {
		tier.Promote(hash, key, make([]byte, 5000), 0, 7)
		low.held[hash] = &lowRecord{key: key, token: 7}
	}
	if st := tier.Stats(); st.Demoted != before.Demoted || st.Evicted != before.Evicted {
		t.Errorf("%d records demoted and %d evicted for a promotion while the lower tier is busy", st.Demoted-before.Demoted, st.Evicted-before.Evicted)
	}
	low.busy.Store(false)
	tier.deleteKey(key)
	low.held[hash] = &lowRecord{key: key, token: 7}
	if !tier.Promote(hash, key, make([]byte, 5000), 0, 7) || tier.Stats().Demoted == before.Demoted {
		t.Error("not promoted when it is ready again")
	}
	if err := tier.Check(); err != nil {
		t.Error(err)
	}
}

// overtaken is a lower tier that does something once, when it is asked whether it
// is ready: a promotion has given up its shard's lock then.
type overtaken struct {
	*lower
	do func()
}

func (*overtaken) Prefetch(uint64) {}

func (o *overtaken) WaitForRoom(waited time.Duration) (time.Duration, bool) {
	if do := o.do; do != nil {
		o.do = nil
		do()
	}
	return waited, true
}

// What is written while a promotion makes room wins.
func TestPromoteIsOvertaken(t *testing.T) {
	key := []byte("key")
	for name, write := range map[string]func(*Tier) bool{
		"Set":    func(tier *Tier) bool { return tier.setKey(key, []byte("newer"), 0) == nil },
		"Delete": func(tier *Tier) bool { return tier.deleteKey(key) },
		"Promote": func(tier *Tier) bool {
			return tier.Promote(tier.Hash(key), key, []byte("newer"), 0, 7)
		},
		"Close": func(tier *Tier) bool { return tier.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			now := int64(1000)
			low := &overtaken{lower: newLower()}
			tier := newOverLower(t, 64<<10, low, &now)
			fill(t, tier, 2000, 100)
			low.held[tier.Hash(key)] = &lowRecord{key: key, token: 7}
			low.do = func() {
				if !write(tier) {
					t.Error("the write failed")
				}
			}
			if tier.Promote(tier.Hash(key), key, make([]byte, 5000), 0, 7) {
				t.Error("the older record was promoted")
			}
			if low.do != nil {
				t.Fatal("the promotion made no room")
			}
			v, ok := tier.Get(nil, key)
			if want := name == "Set" || name == "Promote"; ok != want || ok && string(v) != "newer" {
				t.Errorf("%d bytes afterwards, %v", len(v), ok)
			}
			if err := tier.Check(); err != nil {
				t.Error(err)
			}
		})
	}
}

// The coldest are offered first: Small before Main, the older before the newer.
func TestDemoteAllOrder(t *testing.T) {
	now := int64(1000)
	low := newLower()
	low.admit = func() bool { return false }
	tier := newOverLower(t, 64<<10, low, &now)
	fill(t, tier, 2000, 50)
	lanes := map[string]int{}
	for i := range 2000 {
		key := fmt.Appendf(nil, "fill %d", i)
		if _, _, r, ok := tier.shards[0].find(tier.Hash(key), key); ok {
			lanes[string(key)] = int(tier.shards[0].laneOf(r.off))
		}
	}
	type place struct{ lane, age int }
	var places []place
	low.seen = func(_ uint64, key []byte, _ bool) {
		var age int
		fmt.Sscanf(string(key), "fill %d", &age)
		places = append(places, place{lanes[string(key)], age})
	}
	tier.DemoteAll(0, always, new(evicted.List))
	if len(places) != tier.Len() || len(places) < 100 {
		t.Fatalf("%d of %d records were offered", len(places), tier.Len())
	}
	if places[0].lane == places[len(places)-1].lane {
		t.Fatal("all records are in one lane")
	}
	if !slices.IsSortedFunc(places, func(a, b place) int {
		if a.lane != b.lane {
			return a.lane - b.lane
		}
		return a.age - b.age
	}) {
		t.Errorf("in this order: %v", places)
	}
	if st := tier.Stats(); st.Demoted != 0 {
		t.Errorf("%d counted as demoted", st.Demoted)
	}

	all, calls := len(places), 0
	places = nil
	tier.DemoteAll(0, func() bool { calls++; return calls <= 3 }, new(evicted.List))
	if calls != 4 || len(places) == 0 || len(places) >= all/2 {
		t.Errorf("asked %d times, and offered %d of %d records: want an end after three segments", calls, len(places), all)
	}
}

// What the lower tier uses is not used here.
func TestReserve(t *testing.T) {
	oneGoroutine(t)
	now := int64(1000)
	low := newLower()
	tier := newOverLower(t, 4<<20, low, &now)
	fill(t, tier, 60_000, 100)
	before := tier.Stats()
	within := func() Stats {
		t.Helper()
		st := tier.Stats()
		if st.Used > st.Budget || st.Resident > st.Budget {
			t.Errorf("%d bytes used, %d resident, of %d", st.Used, st.Resident, st.Budget)
		}
		if err := tier.Check(); err != nil {
			t.Error(err)
		}
		return st
	}
	if err := tier.Reserve(2 << 20); err != nil {
		t.Fatal(err)
	}
	st := within()
	if st.ReservedBytes != 2<<20 || st.Demoted <= before.Demoted || st.Entries > before.Entries*2/3 {
		t.Errorf("reserved 2 MiB of 4: %+v", st)
	}
	for _, bytes := range []int64{2 << 20, -2<<20 - 1, 1 << 60} {
		if err := tier.Reserve(bytes); err == nil {
			t.Errorf("charging %d bytes more did not fail", bytes)
		}
		if now := within(); now != st {
			t.Errorf("a failed reservation of %d bytes changed %+v to %+v", bytes, st, now)
		}
	}
	if err := tier.SetBytes(2<<20 + 64<<10); err == nil {
		t.Error("the budget could be set below what is left and what the tier needs")
	}
	if err := tier.SetBytes(3 << 20); err != nil {
		t.Error(err)
	}
	within()
	if err := tier.SetBytes(4 << 20); err != nil {
		t.Error(err)
	}
	// A quarter of the budget fits, until less than half is left.
	for _, c := range []struct{ reserve, most int64 }{{0, 1 << 20}, {1 << 20, 512 << 10}, {-3 << 20, 1 << 20}} {
		if err := tier.Reserve(c.reserve); err != nil {
			t.Fatal(err)
		}
		if most := tier.MaxRecord(); most != c.most {
			t.Errorf("%d bytes reserved: a record of %d bytes fits, want %d", tier.Stats().ReservedBytes, most, c.most)
		}
		key, large := []byte("large"), make([]byte, tier.MaxRecord()-5)
		if err := tier.setKey(key, large, 0); err != nil {
			t.Error(err)
		}
		if v, ok := tier.Get(nil, key); !ok || len(v) != len(large) {
			t.Errorf("a record of %d bytes is not there", len(large))
		}
		within()
	}
	fill(t, tier, 60_000, 100)
	if st := within(); st.Entries < before.Entries*9/10 {
		t.Errorf("%d records when nothing is reserved any more, and %d at first", st.Entries, before.Entries)
	}
	tier.Close()
	if err := tier.Reserve(1 << 20); err != nil {
		t.Error(err)
	}
	if err := tier.Reserve(-1 << 20); err != nil {
		t.Error(err)
	}
}

// Hashes are kept on disk: they do not depend on how the tier is cut up. The
// value comes from another implementation, see package record.
func TestTierHash(t *testing.T) {
	now := int64(1000)
	for _, size := range []int64{64 << 10, 33 << 20} {
		tier := newOverLower(t, size, nil, &now)
		if got := tier.Hash([]byte{4, 11, 18, 25}); got != 0x3387434c285ac41f {
			t.Errorf("%d bytes: hash %#x", size, got)
		}
		var b Batch
		tier.GetMulti(&b, [][]byte{nil, {4, 11, 18, 25}})
		if got := b.Hashes[1]; got != 0x3387434c285ac41f {
			t.Errorf("%d bytes: hash %#x in a batch", size, got)
		}
	}
}

// What leaves for good takes its copy in the lower tier along, where OnEvict is called for
// what leaves there: it is called once for each value.
func TestLowerCopyLeavesToo(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(d *Tier, now *int64){
		"expired": func(d *Tier, now *int64) { *now = 5000; d.Sweep() },
		"cleared": func(d *Tier, _ *int64) { d.Clear() },
		"obsolete": func(d *Tier, _ *int64) {
			d.SetObsolete(func([]byte, []byte) bool { return true })
			fill(t, d, 3000, 40)
		},
		"expired before a promotion": func(d *Tier, now *int64) {
			key := []byte("key")
			*now = 5000
			d.Promote(d.Hash(key), key, []byte("value"), 0, 1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			now, low, told := int64(1000), newLower(), 0
			d, err := New(Config{Bytes: 64 << 10, Seed: 1, Now: func() int64 { return now }, Lower: low, OnEvict: func(key, _ []byte, _ evicted.Cause) {
				if string(key) == "key" {
					told++
				}
			}})
			if err != nil {
				t.Fatal(err)
			}
			d.janitor.once.Do(func() {})
			t.Cleanup(d.Free)
			d.NotifyOf(evicted.CausesOf(evicted.Expired, evicted.Deleted, evicted.LowerEvicted))
			if err := d.setKey([]byte("key"), []byte("value"), 2000); err != nil {
				t.Fatal(err)
			}
			low.keeping = true
			var ev evicted.List
			d.DemoteAll(0, func() bool { return true }, &ev)
			low.keeping = false
			leave(d, &now)
			if low.held[d.Hash([]byte("key"))] != nil || told != 1 {
				t.Errorf("OnEvict was called %d times, and the copy: %+v; want once, and none", told, low.held[d.Hash([]byte("key"))])
			}
		})
	}
}
