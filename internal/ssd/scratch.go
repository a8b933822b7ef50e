package ssd

import "github.com/firncache/firn/bufpool"

// scratch is memory for the length of a call.
type scratch struct {
	buf   *bufpool.Buffer
	bytes []byte
}

func takeScratch(n int) scratch {
	buf := bufpool.Get(n)
	b, err := buf.Extend(n)
	if err != nil {
		panic(err) // n is the length of something that is in memory
	}
	return scratch{buf, b}
}

func (s scratch) release() {
	if s.buf != nil {
		s.buf.Release()
	}
}
