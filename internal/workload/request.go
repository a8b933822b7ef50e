package workload

import "io"

// Request is one access to one key.
type Request struct {
	Key   uint64 // identity of the object; small integers are not hashed, see AppendKey
	Size  uint32 // bytes of the value; 0: unknown
	Time  uint32 // seconds since the source began; 0: unknown
	TTL   uint32 // seconds the value stays valid once written; 0: for ever
	Write bool   // the request writes the value without reading it first
}

// Source is a sequence of requests that is read once, in order. It is not safe
// for concurrent use.
type Source interface {
	// Read fills dst with the next requests and returns how many it stored. It
	// returns n > 0 with a nil error, or 0 with io.EOF at the end, or 0 with a
	// *TraceError (or an error of the file) where the source is broken:
	// requests before the broken place are returned first.
	Read(dst []Request) (n int, err error)

	// Done returns the share of the source that was read, from 0 to 1: exact
	// for a generator, by position in the file for a trace.
	Done() float64

	// Close releases the source.
	Close() error
}

// Limit returns a source that ends after the first n requests of src.
// Closing it closes src.
func Limit(src Source, n int64) Source {
	return &limited{src: src, total: n, left: n}
}

type limited struct {
	src         Source
	total, left int64
}

func (l *limited) Read(dst []Request) (int, error) {
	if l.left <= 0 {
		return 0, io.EOF
	}
	if int64(len(dst)) > l.left {
		dst = dst[:l.left]
	}
	n, err := l.src.Read(dst)
	l.left -= int64(n)
	return n, err
}

func (l *limited) Done() float64 {
	if l.left <= 0 {
		return 1
	}
	return max(l.src.Done(), float64(l.total-l.left)/float64(l.total))
}

func (l *limited) Close() error { return l.src.Close() }
