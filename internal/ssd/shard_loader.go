package ssd

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/vfs"
)

// shardLoader reads shards of a snapshot into the index.
type shardLoader struct {
	*Tier
	file  vfs.File
	parts []format.ShardPart
	offs  []int64 // where each begins
	buf   []byte
	words []uint64
}

// load reads the shards from i up to j. A shard that is damaged, or cannot be read, stays
// empty; it takes no other with it.
func (l *shardLoader) load(i, j int) {
	b := slices.Grow(l.buf[:0], int(l.offs[j]-l.offs[i]))[:l.offs[j]-l.offs[i]]
	l.buf = b
	if _, err := l.file.ReadAt(b, l.offs[i]); err != nil && j > i+1 {
		for ; i < j; i++ {
			l.load(i, i+1)
		}
		return
	} else if err != nil {
		clear(b)
	}
	for ; i < j; i++ {
		n := l.offs[i+1] - l.offs[i]
		if !l.fill(i, b[:n]) {
			l.count.corrupt.Add(1)
			l.health.Fault("a part of the snapshot is damaged, and its records are lost", "shard", i, "of", len(l.parts), "records", n/8)
		}
		b = b[n:]
	}
}

// fill gives a shard its entries, if they are whole.
func (l *shardLoader) fill(i int, b []byte) bool {
	if format.Checksum(0, b) != l.parts[i].Checksum {
		return false
	}
	l.words = l.words[:0]
	for ; len(b) > 0; b = b[8:] {
		l.words = append(l.words, binary.LittleEndian.Uint64(b))
	}
	there := l.log.OnDisk(math.MaxUint64)
	if !l.index.Ascend(l.words) || slices.ContainsFunc(l.words, func(w uint64) bool { return !there(l.index.Location(format.Entry(w))) }) {
		return false
	}
	l.fillShard(&l.index.Shards[i], l.words)
	return true
}
