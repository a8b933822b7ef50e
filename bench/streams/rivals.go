package streams

import (
	"bytes"
	"io"
	"sync"

	"github.com/firncache/firn/bufpool"
	"github.com/valyala/bytebufferpool"
	"google.golang.org/grpc/mem"
)

// A rival reads r, of n bytes, to its end, and gives the memory back. hint is n
// where the source's length is known to the caller, otherwise -1. It returns
// the number of bytes read.
type rival struct {
	name    string
	garbage bool // it has no pool
	make    func() func(r io.Reader, hint int64) int
}

// Those with a size of their own to choose are given the hint; the others keep
// the size that their buffers grew to.
var rivals = []rival{
	{"firn", false, func() func(io.Reader, int64) int {
		p, err := bufpool.New(bufpool.Options{})
		check(err)
		return func(r io.Reader, hint int64) int {
			b, err := p.ReadAll(r, hint)
			check(err)
			n := b.Len()
			b.Release()
			return n
		}
	}},
	{"sync.Pool", false, func() func(io.Reader, int64) int {
		p := sync.Pool{New: func() any { return new(bytes.Buffer) }}
		return func(r io.Reader, hint int64) int {
			b := p.Get().(*bytes.Buffer)
			b.Reset()
			n, err := b.ReadFrom(r)
			check(err)
			p.Put(b)
			return int(n)
		}
	}},
	{"bytebufferpool", false, func() func(io.Reader, int64) int {
		p := new(bytebufferpool.Pool)
		return func(r io.Reader, hint int64) int {
			b := p.Get()
			n, err := b.ReadFrom(r)
			check(err)
			p.Put(b)
			return int(n)
		}
	}},
	{"gmmpool", false, func() func(io.Reader, int64) int {
		p := newGMMPool()
		return func(r io.Reader, hint int64) int {
			b, l, err := p.readAll(r, int(max(hint, 0)))
			check(err)
			l.put(b[:l.size])
			return len(b)
		}
	}},
	{"grpc-mem", false, func() func(io.Reader, int64) int {
		p := mem.DefaultBufferPool()
		return func(r io.Reader, hint int64) int {
			s, err := mem.ReadAll(r, p)
			check(err)
			n := s.Len()
			s.Free()
			return n
		}
	}},
	{"io.ReadAll", true, func() func(io.Reader, int64) int {
		return func(r io.Reader, hint int64) int {
			b, err := io.ReadAll(r)
			check(err)
			return len(b)
		}
	}},
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
