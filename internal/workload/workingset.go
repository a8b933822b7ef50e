package workload

import (
	"context"
	"errors"
	"io"
)

// WorkingSet describes the requests of a whole source.
type WorkingSet struct {
	Requests int64
	Keys     int64 // distinct keys
	Bytes    int64 // keys and values of all distinct keys
}

// Measure reads src to its end and returns its working set. A key counts with
// the length of its key (see KeyLen) and the size of its value at its first
// request, or valueSize where that is unknown. It needs about 20 bytes of
// memory per distinct key. It returns ctx's error if that ends first.
func Measure(ctx context.Context, src Source, valueSize uint32) (WorkingSet, error) {
	var set WorkingSet
	seen := make(map[uint64]struct{})
	buf := make([]Request, 4096)
	for ctx.Err() == nil {
		n, err := src.Read(buf)
		for _, r := range buf[:n] {
			if _, ok := seen[r.Key]; ok {
				continue
			}
			seen[r.Key] = struct{}{}
			if r.Size == 0 {
				r.Size = valueSize
			}
			set.Bytes += int64(KeyLen(r.Key)) + int64(r.Size)
		}
		set.Requests += int64(n)
		if errors.Is(err, io.EOF) {
			set.Keys = int64(len(seen))
			return set, nil
		}
		if err != nil {
			return set, err
		}
	}
	return set, ctx.Err()
}
