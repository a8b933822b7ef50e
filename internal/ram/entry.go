package ram

import (
	"github.com/firncache/firn/internal/index"
	"github.com/firncache/firn/internal/record"
)

// stored is a record in the log, as the holder of the shard's lock sees it.
type stored struct {
	off      uint64
	shape    record.Shape
	valueLen int
	size     uint64
}

func (r *stored) keyOffset() int { return r.shape.HeaderLen() }

func (r *stored) valueOffset() int { return r.shape.HeaderLen() + r.shape.KeyLen() }

// entry is a live record and its place in the index.
type entry struct {
	hash   uint64
	bucket *index.Bucket
	slot   int
	rec    stored
}

func (e *entry) freq() int { return e.bucket.Freq(e.slot) }
