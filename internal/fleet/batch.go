package fleet

import (
	"context"
	"errors"

	"github.com/firncache/firn/internal/local"
	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/internal/watch"
)

// LookupMulti is LookupMulti with a shared tier.
func (s *Fleet) LookupMulti(ctx context.Context, b *Batch, keys [][]byte) error {
	call, mark := callOf(ctx), s.shared.trust.Mark()
	var unread error // keys that the SSD could not read are read from the shared tier
	if call.SkipLocal {
		b.reset(s, keys)
	} else {
		unread = s.local.LookupMulti(ctx, &b.Batch, keys)
	}
	q := &b.inShared
	q.collect(s, ctx, b, keys, mark, call.SkipLocal, unread == nil)
	if len(q.queries) == 0 {
		return nil
	}
	for _, i := range q.index { // until there is an answer
		b.Miss(i)
	}
	switch {
	case s.local.RAM.Closed():
		return local.ErrClosed
	case ctx.Err() != nil:
		return ctx.Err()
	case call.SkipShared:
		return nil
	}
	return s.fetchMulti(ctx, b, &call)
}

// fetchMulti is fetch for the queries of a batch. It returns the first error.
func (s *Fleet) fetchMulti(ctx context.Context, b *Batch, call *shared.Call) (first error) {
	q := &b.inShared
	if n := len(q.queries); cap(q.watches) < n {
		q.watches = make([]watch.Watch, n)
	}
	watches := q.watches[:len(q.queries)]
	for i := range watches {
		s.local.RAM.Watch(&watches[i], b.Hashes[q.index[i]], q.queries[i].Key)
	}
	s.shared.count.checks.Add(uint64(q.checks))
	s.shared.readMulti(ctx, q.queries, func(i int, f shared.Found, err error) {
		if err = s.answerQuery(ctx, b, i, &f, err, call); first == nil {
			first = err
		}
	})
	for i := range watches {
		if !watches[i].Voided() {
			s.local.RAM.Unwatch(&watches[i])
		}
	}
	q.ev.Notify()
	s.local.KeepAlive()
	return first
}

// answerQuery puts what was found for a query into the batch, and into the local tiers.
func (s *Fleet) answerQuery(ctx context.Context, b *Batch, i int, f *shared.Found, err error, call *shared.Call) error {
	q := &b.inShared
	at, key, have := q.index[i], q.queries[i].Key, &q.have[i]
	hash, w := b.Hashes[at], &q.watches[i]
	var a answer
	switch {
	case err == nil && f.Unchanged:
		a = s.restampCopy(w, &q.ev, hash, 0, key, have, f, call)
	case err == nil:
		a = s.storeFound(w, &q.ev, 0, &localCopy{}, key, f, call)
	case errors.Is(err, shared.ErrNotFound):
		s.noteAbsent(w, &q.ev, key, have)
	default:
		q.failed = true
		a, err = s.degradedAnswer(ctx, have, call, 0, err)
		if err != nil {
			return err
		}
	}
	if a.state != local.Fresh {
		return nil
	}
	start := len(b.Bytes)
	b.Bytes = append(b.Bytes, a.value...)
	b.Put(at, start, a.deadline)
	return nil
}
