package tiered

import (
	"context"
	"errors"
	"time"

	"github.com/firncache/firn/internal/histogram"
	"github.com/firncache/firn/internal/shared"
)

// The requests for values: those that the tier has answered, with a value or without, are
// counted by the time that took. One that failed has been no answer.

// read is shared.Tier.Read.
func (t *sharedTier) read(ctx context.Context, dst []byte, q shared.Query) (shared.Found, error) {
	began := time.Now()
	f, err := t.tier.Read(ctx, dst, q)
	t.count.answered(err, time.Since(began))
	return f, err
}

// leaseFor is shared.Tier.Lease, which is how a load reads.
func (t *sharedTier) leaseFor(ctx context.Context, q shared.Query) (shared.Expect, *shared.Found, error) {
	began := time.Now()
	expect, f, err := t.tier.Lease(ctx, nil, q)
	t.count.answered(err, time.Since(began))
	return expect, f, err
}

// readMulti is shared.Tier.ReadMulti. The time that each takes is not the tier's.
func (t *sharedTier) readMulti(ctx context.Context, queries []shared.Query, each func(i int, f shared.Found, err error)) {
	took, best := time.Duration(0), shared.ErrUnavailable
	began := time.Now()
	t.tier.ReadMulti(ctx, queries, func(i int, f shared.Found, err error) {
		if took += time.Since(began); isAnswer(err) {
			best = nil
		}
		each(i, f, err)
		began = time.Now()
	})
	t.count.answered(best, took+time.Since(began))
}

// isAnswer reports whether a call that returned err has been answered.
func isAnswer(err error) bool {
	return err == nil || errors.Is(err, shared.ErrNotFound) || errors.Is(err, shared.ErrLeased)
}

func (c *sharedCounters) answered(err error, took time.Duration) {
	if isAnswer(err) {
		c.readTimes.Add(took)
	}
}

// SharedReadDurations is how long the shared tier took to answer reads, of one key or of many;
// none without one.
func (s *Store) SharedReadDurations() (h histogram.Histogram) {
	if s.shared != nil {
		h = s.shared.count.readTimes.Snapshot()
	}
	return h
}
