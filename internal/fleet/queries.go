package fleet

import (
	"context"

	"github.com/firncache/firn/internal/evicted"
	"github.com/firncache/firn/internal/local"
	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/internal/watch"
)

// Batch holds the values of one LookupMulti. The zero Batch is ready for use.
type Batch struct {
	local.Batch
	inShared queries
}

// queries is the scratch space for the keys of a batch that are read from the shared tier.
type queries struct {
	queries []shared.Query
	index   []int // of each query in the batch
	have    []localCopy
	watches []watch.Watch
	ev      evicted.List
	failed  bool // the shared tier did not answer one
	checks  int  // queries of suspect copies
}

// reset makes a batch one without any value.
func (b *Batch) reset(s *Fleet, keys [][]byte) {
	b.Reset(len(keys))
	b.Hashes = b.Hashes[:0]
	for _, key := range keys {
		b.Hashes = append(b.Hashes, s.local.RAM.Hash(key))
	}
}

// collect cuts the trailers off what was found, and makes queries for the keys without a
// trusted copy. read says that the SSD could be read.
func (q *queries) collect(s *Fleet, ctx context.Context, b *Batch, keys [][]byte, mark uint64, skipLocal, read bool) {
	q.queries, q.index, q.have, q.failed = q.queries[:0], q.index[:0], q.have[:0], false
	q.checks = 0
	for i, key := range keys {
		var c localCopy
		if v, ok := b.Value(i); ok {
			b.Hashes[i] = s.local.RAM.Hash(key)
			c = s.toCopy(b.Hashes[i], 0, v, b.Deadline(i), local.Fresh)
			b.Trim(i, len(v)-len(c.value))
		} else if !skipLocal {
			if c = s.copyAside(ctx, b.Hashes[i], nil, key, read); c.state == local.Fresh { // it came since
				c = localCopy{}
			}
		}
		c.trusted = c.trusted && !s.shared.trust.Since(mark)
		if c.answers() {
			continue
		}
		q.queries = append(q.queries, shared.Query{Key: key, Have: c.version})
		q.index = append(q.index, i)
		q.have = append(q.have, c)
		if c.state != local.Miss {
			q.checks++
		}
	}
}
