package ram

import (
	"math"
	"slices"
	"sync/atomic"
)

// Quota is the most bytes of a namespace's records. The keys of a namespace begin with eight
// bytes, the number of a generation; each generation of which there may be records has an
// account of its own. Begin and End say which numbers new keys have.
type Quota struct {
	all      *quotas
	max      atomic.Int64
	evicted  atomic.Uint64
	accounts atomic.Pointer[[]*account] // in the order in which their records give way
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
	a := all.account(number)
	switch {
	case a == nil:
		a = all.open(number)
	case a.quota.Load() != q: // the namespace was in use before, and begins with a number of its own
		a.quota.Load().list(func(list []*account) []*account { return without(list, a) })
	}
	a.live.Store(true)
	a.quota.Store(q)
	q.list(func(list []*account) []*account { return append(without(list, a), a) })
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
	a := all.account(number)
	if a == nil || a.quota.Load() != q || !a.live.Load() {
		return
	}
	a.live.Store(false)
	q.list(func(list []*account) []*account {
		list = without(list, a)
		at := slices.IndexFunc(list, func(b *account) bool { return b.live.Load() })
		if at < 0 {
			at = len(list)
		}
		if at == maxEnded {
			all.drop(list[0])
			list, at = list[1:], at-1
		}
		return slices.Insert(list, at, a)
	})
	all.prune()
}

// maxEnded is how many accounts of numbers that have ended a quota has at most: one record that
// stays would keep a whole account otherwise, of each Clear.
const maxEnded = 8

// Close ends all numbers. What the records take is counted, and limited, on.
func (q *Quota) Close() {
	if q != nil {
		for _, a := range *q.accounts.Load() {
			q.End(a.number)
		}
	}
}

// list replaces the accounts by what change makes of a copy. The caller holds quotas.mu.
func (q *Quota) list(change func([]*account) []*account) {
	var list []*account
	if l := q.accounts.Load(); l != nil {
		list = slices.Clone(*l)
	}
	list = change(list)
	q.accounts.Store(&list)
}

func without(list []*account, a *account) []*account {
	return slices.DeleteFunc(list, func(b *account) bool { return a == b })
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
		n += max(a.total.Load(), 0)
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

// quotaSlack is the part of a quota, as a divisor, by which it may be exceeded while a write
// has done what it does for that at most.
const quotaSlack = 32

// quotaSteps is how many steps that is.
const quotaSteps = 4

// exceeded reports whether records have to leave, for a write that has done some steps for it.
func (q *Quota) exceeded(steps int) bool {
	limit := q.max.Load()
	over := q.Used() - limit
	return over > 0 && (steps < quotaSteps || over > limit/quotaSlack)
}

// next is the account of which records leave next; nil if none has any.
func (q *Quota) next() *account {
	for _, a := range *q.accounts.Load() {
		if a.total.Load() > 0 {
			return a
		}
	}
	return nil
}
