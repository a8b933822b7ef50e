package tiered

import (
	"context"
	"errors"

	"github.com/firncache/firn/internal/ram"
	"github.com/firncache/firn/internal/shared"
)

// sharedQueries is the scratch space for the keys of a batch that the shared tier is asked
// for.
type sharedQueries struct {
	queries []shared.Query
	index   []int // of each query in the batch
	have    []sharedCopy
	watches []ram.Watch
	ev      ram.Evicted
	failed  bool // the shared tier did not answer one
	checks  int  // queries of suspect copies
}

// lookupMultiShared is LookupMulti with a shared tier.
func (s *Store) lookupMultiShared(ctx context.Context, b *Batch, keys [][]byte) error {
	call, mark := callOf(ctx), s.shared.trust.Mark()
	var unread error // what the SSD does not give the shared tier is asked for
	if call.SkipLocal {
		b.reset(s, keys)
	} else {
		unread = s.lookupMultiLocal(ctx, b, keys)
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
	case s.ram.Closed():
		return ErrClosed
	case ctx.Err() != nil:
		return ctx.Err()
	case call.SkipShared:
		return nil
	}
	return s.askMulti(ctx, b, &call)
}

// reset makes a batch one of which nothing was found.
func (b *Batch) reset(s *Store, keys [][]byte) {
	b.Reset(len(keys))
	b.Hashes = b.Hashes[:0]
	for _, key := range keys {
		b.Hashes = append(b.Hashes, s.ram.Hash(key))
	}
}

// collect cuts the trailers off what was found, and makes queries for the keys of which there
// is no trusted copy. read says that the SSD could be read.
func (q *sharedQueries) collect(s *Store, ctx context.Context, b *Batch, keys [][]byte, mark uint64, skipLocal, read bool) {
	q.queries, q.index, q.have, q.failed = q.queries[:0], q.index[:0], q.have[:0], false
	q.checks = 0
	for i, key := range keys {
		var c sharedCopy
		if v, ok := b.Value(i); ok {
			b.Hashes[i] = s.ram.Hash(key)
			c = s.toCopy(b.Hashes[i], 0, v, b.Deadline(i), Fresh)
			b.Trim(i, len(v)-len(c.value))
		} else if !skipLocal {
			if c = s.copyAside(ctx, b.Hashes[i], nil, key, read); c.state == Fresh { // it came since
				c = sharedCopy{}
			}
		}
		c.trusted = c.trusted && !s.shared.trust.Since(mark)
		if c.answers() {
			continue
		}
		q.queries = append(q.queries, shared.Query{Key: key, Have: c.version})
		q.index = append(q.index, i)
		q.have = append(q.have, c)
		if c.state != Miss {
			q.checks++
		}
	}
}

// askMulti is ask for the queries of a batch. It returns the first error.
func (s *Store) askMulti(ctx context.Context, b *Batch, call *shared.Call) (first error) {
	q := &b.inShared
	if n := len(q.queries); cap(q.watches) < n {
		q.watches = make([]ram.Watch, n)
	}
	watches := q.watches[:len(q.queries)]
	for i := range watches {
		s.ram.Watch(&watches[i], b.Hashes[q.index[i]], q.queries[i].Key)
	}
	s.shared.count.checks.Add(uint64(q.checks))
	s.shared.readMulti(ctx, q.queries, func(i int, f shared.Found, err error) {
		if err = s.answerQuery(ctx, b, i, &f, err, call); first == nil {
			first = err
		}
	})
	for i := range watches {
		if !watches[i].Voided() {
			s.ram.Unwatch(&watches[i])
		}
	}
	q.ev.Notify()
	s.keepAlive()
	return first
}

// answerQuery puts what was found for a query into the batch, and into the local tiers.
func (s *Store) answerQuery(ctx context.Context, b *Batch, i int, f *shared.Found, err error, call *shared.Call) error {
	q := &b.inShared
	at, key, have := q.index[i], q.queries[i].Key, &q.have[i]
	hash, w := b.Hashes[at], &q.watches[i]
	var a answer
	switch {
	case err == nil && f.Unchanged:
		a = s.keepUnchanged(w, &q.ev, hash, 0, key, have, f, call)
	case err == nil:
		a = s.keep(w, &q.ev, 0, &sharedCopy{}, key, f, call)
	case errors.Is(err, shared.ErrNotFound):
		s.missing(w, &q.ev, key, have)
	default:
		q.failed = true
		a, err = s.unanswered(ctx, have, call, 0, err)
		if err != nil {
			return err
		}
	}
	if a.state != Fresh {
		return nil
	}
	start := len(b.Bytes)
	b.Bytes = append(b.Bytes, a.value...)
	b.Put(at, start, a.deadline)
	return nil
}
