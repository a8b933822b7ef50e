package quotas

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/firncache/firn/internal/policy"
	"github.com/firncache/firn/internal/ram/segments"
)

// Accounts has the accounts of all quotas. Until there is one, table is nil, which is all that
// writes look at.
type Accounts struct {
	table atomic.Pointer[map[uint64]*Account] // by number; it is replaced when it changes
	marks []uint8                             // by segment: marks of accounts whose records may start there; the owner's, under its lock

	mu     sync.Mutex // of changes; a leaf
	opened int
	shards int // of the tier

	charging atomic.Bool // no lock, as OnEvict is called meanwhile, and may come here again
	charged  int64       // bytes, to the budget; whoever set charging changes it
}

// Account is the records of one number: those that are marked as counted.
type Account struct {
	Number uint64
	mark   uint8
	Live   atomic.Bool // new keys begin with the number
	Quota  atomic.Pointer[Quota]
	Total  atomic.Int64 // bytes; below 0: the account is closed
	shards []holding
}

// holding is what a shard has of an account, under the shard's lock.
type holding struct {
	Bytes [segments.Lanes]int64
	All   atomic.Int64 // the sum, for others to read
	Kept  int64        // bytes that the policy kept since a record last left for the quota
	Hands [segments.Lanes]Hand
	_     [16]byte
}

// Hand is a place in a lane: no counted record of the account starts before it, except in
// a segment that is being drained, or that are being demoted.
type Hand struct {
	Seg uint32 // 0: the end of the lane, whatever comes
	At  uint32
}

// NumberLen is how many bytes of a key are a number.
const NumberLen = 8

// Of is the account of a key, nil if it has none.
func (q *Accounts) Of(key []byte) *Account {
	table := q.table.Load()
	if table == nil || len(key) < NumberLen {
		return nil
	}
	return (*table)[binary.LittleEndian.Uint64(key)]
}

// Account is that of a number, nil if there is none.
func (q *Accounts) Account(number uint64) *Account { return q.ByNumber()[number] }

// ByNumber are all of them, nil before the first quota.
func (q *Accounts) ByNumber() map[uint64]*Account {
	if table := q.table.Load(); table != nil {
		return *table
	}
	return nil
}

// None reports whether there has been no quota.
func (q *Accounts) None() bool { return q.table.Load() == nil }

// Mark notes that a record of an account starts in a segment; unmark, that none does. The
// segment's owner calls them, under its lock.
func (q *Accounts) Mark(a *Account, id uint32) { q.marks[id] |= a.mark }

func (q *Accounts) Unmark(id uint32) {
	if !q.None() {
		q.marks[id] = 0
	}
}

// Marked reports whether records of an account may start in a segment.
func (q *Accounts) Marked(a *Account, id uint32) bool { return q.marks[id]&a.mark != 0 }

// change replaces the table by what f makes of a copy. The caller holds mu.
func (q *Accounts) change(f func(map[uint64]*Account)) {
	table := map[uint64]*Account{}
	if old := q.table.Load(); old != nil {
		table = maps.Clone(*old)
	}
	f(table)
	q.table.Store(&table)
}

// Quota is that of the namespace whose current generation has this number, from now on with
// limit bytes: see Tier.Quota.
func (q *Accounts) Quota(number uint64, limit int64, shards, segments int) *Quota {
	q.mu.Lock()
	defer q.mu.Unlock()
	a, of := q.Account(number), &Quota{all: q}
	if a == nil && limit == 0 {
		return nil
	}
	if a != nil {
		if of = a.Quota.Load(); !a.Live.Load() { // it was closed meanwhile
			of.evicted.Store(0)
		}
	}
	if q.marks == nil {
		q.marks, q.shards = make([]uint8, segments), shards
	}
	if limit == 0 {
		limit = math.MaxInt64
	}
	of.max.Store(limit)
	of.begin(number)
	return of
}

// open makes an account. The caller holds mu.
func (q *Accounts) open(number uint64) *Account {
	a := &Account{Number: number, mark: 1 << (q.opened % 8), shards: make([]holding, q.shards)}
	q.opened++
	q.change(func(table map[uint64]*Account) { table[number] = a })
	return a
}

// prune closes the accounts that have nothing, and get no new keys. The caller
// holds mu.
func (q *Accounts) prune() {
	for number, a := range *q.table.Load() {
		if !a.Live.Load() && a.Total.CompareAndSwap(0, math.MinInt64/2) {
			a.Quota.Load().list(func(list []*Account) []*Account { return without(list, a) })
			q.change(func(table map[uint64]*Account) { delete(table, number) })
		}
	}
}

// drop forgets an account of a number that has ended, and does not begin again. The records that
// are left of it count no more, and leave as those without a quota do. The caller holds mu, and
// takes the account out of its quota's list.
func (q *Accounts) drop(a *Account) {
	a.Total.Add(math.MinInt64 / 2)
	q.change(func(table map[uint64]*Account) { delete(table, a.Number) })
}

var accountSize, holdingSize = int64(reflect.TypeFor[Account]().Size()), int64(reflect.TypeFor[holding]().Size())

// bytes is what all of it takes.
func (q *Accounts) bytes() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := int64(len(q.marks))
	for _, a := range q.ByNumber() {
		n += accountSize + int64(len(a.shards))*holdingSize
	}
	return n
}

// Take counts a record that is about to be stored, before the shard does. It
// reports false if the account is closed.
func (a *Account) Take(size uint64) bool {
	if a.Total.Add(int64(size)) >= 0 {
		return true
	}
	a.Total.Add(-int64(size))
	return false
}

// Of is what the shard of a number, from 1, has of the account.
func (a *Account) Of(shard uint32) *holding { return &a.shards[shard-1] }

// Forget takes out all that a shard has.
func (a *Account) Forget(shard uint32) {
	h := a.Of(shard)
	a.Total.Add(-h.All.Load())
	h.All.Store(0)
	h.Bytes, h.Hands, h.Kept = [segments.Lanes]int64{}, [segments.Lanes]Hand{}, 0
}

// CountEvicted counts a record that has left for the quota.
func (a *Account) CountEvicted() { a.Quota.Load().evicted.Add(1) }

// Add counts bytes at the end of a lane.
func (h *holding) Add(q policy.Lane, at Hand, size int64) {
	if h.Bytes[q] == 0 || h.Hands[q].Seg == 0 {
		h.Hands[q] = at
	}
	h.Bytes[q] += size
	h.All.Add(size)
}

func (h *holding) Remove(q policy.Lane, size int64) {
	h.Bytes[q] -= size
	h.All.Add(-size)
}

// Pass moves the hand of a lane that is in a segment, which leaves the lane, to the next one.
func (h *holding) Pass(q policy.Lane, id, next uint32) {
	if h := &h.Hands[q]; h.Seg == id {
		*h = Hand{Seg: next}
	}
}

// Charge takes the memory of the accounts from the budget, or gives it back; of a budget
// that has nothing to spare it takes nothing. Records may have to leave, for which OnEvict is
// called: the caller holds no lock. If a call is under way, that does it.
func (q *Accounts) Charge(reserve func(int64) error) {
	for more := true; more && q.charging.CompareAndSwap(false, true); {
		more = q.chargeOnce(reserve)
	}
}

// chargeOnce is Charge, and reports whether it changed something: then there may be more by now.
func (q *Accounts) chargeOnce(reserve func(int64) error) bool {
	defer q.charging.Store(false)
	by := q.bytes() - q.charged
	if by == 0 || reserve(by) != nil {
		return false
	}
	q.charged += by
	return true
}

// Check compares the accounts with what the shards have of them.
func (q *Accounts) Check() error {
	for number, a := range q.ByNumber() {
		n := int64(0)
		for i := range a.shards {
			n += a.shards[i].All.Load()
		}
		if total := a.Total.Load(); n != total {
			return fmt.Errorf("account %#x has %d bytes, and its shards have %d", number, total, n)
		}
	}
	return nil
}
