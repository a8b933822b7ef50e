package local

import (
	"github.com/firncache/firn/internal/ram/quotas"
	"github.com/firncache/firn/internal/ssd/shares"
)

// Quota limits the records of a namespace: quotas.Quota in RAM, and on the SSD a share as large as
// that is of the RAM budget at Open. A nil Quota has no limit.
type Quota struct {
	ram    *quotas.Quota
	share  *shares.Share // nil: none
	shares *shares.Shares
}

// Begin says that new keys begin with a number.
func (q *Quota) Begin(number uint64) {
	if q == nil {
		return
	}
	q.ram.Begin(number)
	if q.share != nil {
		q.shares.Begin(number, q.share)
	}
}

// End says that new keys do not begin with a number any more. What the share has of them counts
// until it is reclaimed.
func (q *Quota) End(number uint64) {
	if q == nil {
		return
	}
	q.ram.End(number)
	if q.share != nil {
		q.shares.End(number)
	}
}

// Close ends all numbers. What is in RAM is limited on, what is on the SSD is not.
func (q *Quota) Close() {
	if q == nil {
		return
	}
	q.ram.Close()
	if q.share != nil {
		q.shares.Remove(q.share)
	}
}

// Max is the most bytes in RAM, 0 for no limit.
func (q *Quota) Max() int64 {
	if q == nil {
		return 0
	}
	return q.ram.Max()
}

// InRAM is how many bytes the records take in RAM, and how many have left for the quota.
func (q *Quota) InRAM() (bytes int64, evicted uint64) { return q.ram.Used(), q.ram.Evicted() }

// OnSSD is how many bytes the records take on the SSD, and may take; 0 without one.
func (q *Quota) OnSSD() (bytes, most int64) { return q.share.Bytes() }
