package ram

import (
	"encoding/binary"
	"maps"
	"math"
	"sync"
	"sync/atomic"

	"github.com/firncache/firn/internal/policy"
	"github.com/firncache/firn/internal/ram/segments"
)

// quotas has the accounts of all quotas. Until there is one, table is nil, which is all that
// writes look at.
type quotas struct {
	table atomic.Pointer[map[uint64]*account] // by number; it is replaced when it changes
	marks []uint8                             // by segment: marks of accounts of which records may start there; the owner's, under its lock

	mu     sync.Mutex // of changes; a leaf
	opened int
	shards int // of the tier

	charging sync.Mutex // before Tier.resizing
	charged  int64      // bytes, to the budget
}

// account is the records of one number: those that are marked as counted.
type account struct {
	number uint64
	mark   uint8
	live   atomic.Bool // new keys begin with the number
	quota  atomic.Pointer[Quota]
	total  atomic.Int64 // bytes; below 0: the account is closed
	shards []holding
}

// holding is what a shard has of an account, under the shard's lock.
type holding struct {
	bytes [segments.Lanes]int64
	all   atomic.Int64 // the sum, for others to read
	kept  int64        // bytes that the policy kept since a record last left for the quota
	hands [segments.Lanes]hand
	_     [16]byte
}

// hand is a place in a lane: no counted record of the account starts before it, but for those
// in a segment that is being drained, or that are being demoted.
type hand struct {
	seg uint32 // 0: the end of the lane, whatever comes
	at  uint32
}

// numberLen is how many bytes of a key are a number.
const numberLen = 8

// of is the account of a key, nil if it has none.
func (q *quotas) of(key []byte) *account {
	table := q.table.Load()
	if table == nil || len(key) < numberLen {
		return nil
	}
	return (*table)[binary.LittleEndian.Uint64(key)]
}

func (q *quotas) account(number uint64) *account {
	if table := q.table.Load(); table != nil {
		return (*table)[number]
	}
	return nil
}

// change replaces the table by what f makes of a copy. The caller holds mu.
func (q *quotas) change(f func(map[uint64]*account)) {
	table := map[uint64]*account{}
	if old := q.table.Load(); old != nil {
		table = maps.Clone(*old)
	}
	f(table)
	q.table.Store(&table)
}

// quota is Tier.Quota. The caller holds no lock.
func (q *quotas) quota(number uint64, limit int64, shards, segments int) *Quota {
	q.mu.Lock()
	defer q.mu.Unlock()
	a, of := q.account(number), &Quota{all: q}
	if a == nil && limit == 0 {
		return nil
	}
	if a != nil {
		if of = a.quota.Load(); !a.live.Load() { // it was closed meanwhile
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
func (q *quotas) open(number uint64) *account {
	a := &account{number: number, mark: 1 << (q.opened % 8), shards: make([]holding, q.shards)}
	q.opened++
	q.change(func(table map[uint64]*account) { table[number] = a })
	return a
}

// prune closes the accounts that have nothing, and of which no new keys are. The caller
// holds mu.
func (q *quotas) prune() {
	for number, a := range *q.table.Load() {
		if !a.live.Load() && a.total.CompareAndSwap(0, math.MinInt64/2) {
			a.quota.Load().list(func(list []*account) []*account { return without(list, a) })
			q.change(func(table map[uint64]*account) { delete(table, number) })
		}
	}
}

// drop forgets an account of a number that has ended, and does not begin again. The records that
// are left of it count no more, and leave as those without a quota do. The caller holds mu, and
// takes the account out of its quota's list.
func (q *quotas) drop(a *account) {
	a.total.Add(math.MinInt64 / 2)
	q.change(func(table map[uint64]*account) { delete(table, a.number) })
}

// bytes is what all of it takes, with so many bytes for an account and for a shard's holding.
func (q *quotas) bytes(each, holding int64) int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	table := q.table.Load()
	if table == nil {
		return 0
	}
	n := int64(len(q.marks))
	for _, a := range *table {
		n += each + int64(len(a.shards))*holding
	}
	return n
}

// take counts a record that is about to be stored, of which the shard is yet to be told. It
// reports false if the account is closed.
func (a *account) take(size uint64) bool {
	if a.total.Add(int64(size)) >= 0 {
		return true
	}
	a.total.Add(-int64(size))
	return false
}

// pass moves the hands that are in a segment, which leaves its lane, to the next one.
func (a *account) pass(shard int, q policy.Lane, id, next uint32) {
	if h := &a.shards[shard].hands[q]; h.seg == id {
		*h = hand{seg: next}
	}
}

// charge takes the memory of the accounts from the budget, or gives it back; of a budget
// that has nothing to spare it takes nothing. Records may have to leave, of which OnEvict is told:
// the caller holds no lock.
func (q *quotas) charge(each, holding int64, reserve func(int64) error) {
	q.charging.Lock()
	defer q.charging.Unlock()
	if by := q.bytes(each, holding) - q.charged; by != 0 && reserve(by) == nil {
		q.charged += by
	}
}
