package quotas

import (
	"math"
	"slices"
	"sync/atomic"
)

// Quota is the most bytes of a namespace's records. The keys of a namespace begin with eight
// bytes, the number of a generation; each generation that may have records has an
// account of its own. Begin and End say which numbers new keys have.
type Quota struct {
	all      *Accounts
	max      atomic.Int64
	evicted  atomic.Uint64
	accounts atomic.Pointer[[]*Account] // in the order in which their records give way
}

// Begin says that new keys begin with a number. A nil Quota has no account.
func (q *Quota) Begin(number uint64) {
	if q != nil {
		q.all.mu.Lock()
		defer q.all.mu.Unlock()
		q.begin(number)
	}
}

func (q *Quota) begin(number uint64) {
	all := q.all
	a := all.Account(number)
	switch {
	case a == nil:
		a = all.open(number)
	case a.Quota.Load() != q: // the namespace was in use before, and begins with a number of its own
		a.Quota.Load().list(func(list []*Account) []*Account { return without(list, a) })
	}
	a.Live.Store(true)
	a.Quota.Store(q)
	q.list(func(list []*Account) []*Account { return append(without(list, a), a) })
	all.prune()
}

// End says that new keys do not begin with a number any more: its records leave first.
func (q *Quota) End(number uint64) {
	if q == nil {
		return
	}
	all := q.all
	all.mu.Lock()
	defer all.mu.Unlock()
	a := all.Account(number)
	if a == nil || a.Quota.Load() != q || !a.Live.Load() {
		return
	}
	a.Live.Store(false)
	q.list(func(list []*Account) []*Account {
		list = without(list, a)
		at := slices.IndexFunc(list, func(b *Account) bool { return b.Live.Load() })
		if at < 0 {
			at = len(list)
		}
		if at == MaxEnded {
			all.drop(list[0])
			list, at = list[1:], at-1
		}
		return slices.Insert(list, at, a)
	})
	all.prune()
}

// MaxEnded is how many accounts of numbers that have ended a quota has at most: one record that
// stays would keep a whole account otherwise, of each Clear.
const MaxEnded = 8

// Close ends all numbers. What the records take is counted, and limited, on.
func (q *Quota) Close() {
	if q != nil {
		for _, a := range *q.accounts.Load() {
			q.End(a.Number)
		}
	}
}

// list replaces the accounts by what change makes of a copy. The caller holds quotas.mu.
func (q *Quota) list(change func([]*Account) []*Account) {
	var list []*Account
	if l := q.accounts.Load(); l != nil {
		list = slices.Clone(*l)
	}
	list = change(list)
	q.accounts.Store(&list)
}

func without(list []*Account, a *Account) []*Account {
	return slices.DeleteFunc(list, func(b *Account) bool { return a == b })
}

// Max is the most bytes, 0 for no limit.
func (q *Quota) Max() int64 {
	if q == nil || q.max.Load() == math.MaxInt64 {
		return 0
	}
	return q.max.Load()
}

// Used is how many bytes the records take in the log.
func (q *Quota) Used() (n int64) {
	if q == nil {
		return 0
	}
	for _, a := range *q.accounts.Load() {
		n += max(a.Total.Load(), 0)
	}
	return n
}

// Evicted is how many records have left for the quota.
func (q *Quota) Evicted() uint64 {
	if q == nil {
		return 0
	}
	return q.evicted.Load()
}

// Over reports whether the records take more than they may.
func (q *Quota) Over() bool { return q.Used() > q.max.Load() }

// Fits reports whether a record of so many bytes is no larger than the quota.
func (q *Quota) Fits(size int64) bool { return size <= q.max.Load() }

// Filled reports whether the records take about as much as they may.
func (q *Quota) Filled() bool {
	limit := q.max.Load()
	return q.Used() > limit-limit/slack
}

// slack is the part of a quota, as a divisor, by which it may be exceeded while a write
// has done what it does for that at most.
const slack = 32

// maxSteps is how many steps that is.
const maxSteps = 4

// Exceeded reports whether records have to leave, for a write that has done some steps for it.
func (q *Quota) Exceeded(steps int) bool {
	limit := q.max.Load()
	over := q.Used() - limit
	return over > 0 && (steps < maxSteps || over > limit/slack)
}

// Next is the account whose records leave next; nil if none has any.
func (q *Quota) Next() *Account {
	for _, a := range *q.accounts.Load() {
		if a.Total.Load() > 0 {
			return a
		}
	}
	return nil
}
