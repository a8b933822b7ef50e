package turn

import (
	"github.com/firncache/firn/bench/keys"
	"github.com/firncache/firn/bench/rivals"
)

// get reads every key. It touches each value once, as a reader would; a cache
// that copies finds room for the copy in buf.
func get(c rivals.Cache, s keys.Stream, valueSize int) (n counts) {
	buf := make([]byte, 0, valueSize)
	n.gets = int64(s.Len())
	for ; len(s) >= keys.Size; s = s[keys.Size:] {
		if v, ok := c.Get(buf, s[:keys.Size:keys.Size]); ok {
			n.hits++
			n.sum += int64(v[0])
		}
	}
	return n
}

// set writes value under every key.
func set(c rivals.Cache, s keys.Stream, value []byte) (n counts) {
	for ; len(s) >= keys.Size; s = s[keys.Size:] {
		if !c.Set(s[:keys.Size:keys.Size], value) {
			n.refused++
		}
	}
	return n
}

// mix reads, and writes every twentieth key instead.
func mix(c rivals.Cache, s keys.Stream, value []byte) (n counts) {
	buf := make([]byte, 0, len(value))
	left := mixPeriod
	for ; len(s) >= keys.Size; s = s[keys.Size:] {
		key := s[:keys.Size:keys.Size]
		if left--; left == 0 {
			left = mixPeriod
			if !c.Set(key, value) {
				n.refused++
			}
			continue
		}
		n.gets++
		if v, ok := c.Get(buf, key); ok {
			n.hits++
			n.sum += int64(v[0])
		}
	}
	return n
}

// getBatch reads all keys, BatchSize at a time. The time to fill the list of
// keys is part of the loop.
func getBatch(b rivals.Batch, s keys.Stream) (n counts) {
	list := make([][]byte, 0, BatchSize)
	for len(s) >= keys.Size {
		list, s = fill(list[:0], s)
		b.Get(list)
		n.gets += int64(len(list))
		for i := range list {
			if v, ok := b.Value(i); ok {
				n.hits++
				n.sum += int64(v[0])
			}
		}
	}
	return n
}

// setBatch writes value under all keys, BatchSize at a time.
func setBatch(b rivals.Batch, s keys.Stream, value []byte) (n counts) {
	list := make([][]byte, 0, BatchSize)
	values := make([][]byte, BatchSize)
	for i := range values {
		values[i] = value
	}
	for len(s) >= keys.Size {
		list, s = fill(list[:0], s)
		if !b.Set(list, values[:len(list)]) {
			n.refused += int64(len(list))
		}
	}
	return n
}

// fill moves up to BatchSize keys from s to list.
func fill(list [][]byte, s keys.Stream) ([][]byte, keys.Stream) {
	for len(list) < BatchSize && len(s) >= keys.Size {
		list = append(list, s[:keys.Size:keys.Size])
		s = s[keys.Size:]
	}
	return list, s
}
