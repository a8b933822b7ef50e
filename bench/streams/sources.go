package streams

import (
	"bytes"
	"io"
)

// A source gives streams of n bytes, one after the other, to one goroutine.
// close ends the goroutines that it started.
type source interface {
	next(n int) (r io.Reader, hint int64)
	close()
}

type namedSource struct {
	name string
	make func() source
}

var sources = []namedSource{
	{"memory", func() source { return &memory{} }},
	{"reader", func() source { return &opaque{known: true} }},
	{"unknown", func() source { return &opaque{} }},
	{"pipe", newPipe},
}

var data = make([]byte, 1<<20)

// memory is a bytes.Reader.
type memory struct{ r bytes.Reader }

func (m *memory) next(n int) (io.Reader, int64) {
	m.r.Reset(data[:n])
	return &m.r, int64(n)
}
func (m *memory) close() {}

// opaque fills the buffer from memory, and has no method besides Read. Its
// length is known to the caller, or to nobody.
type opaque struct {
	rest  []byte
	known bool
}

func (o *opaque) next(n int) (io.Reader, int64) {
	o.rest = data[:n]
	if o.known {
		return o, int64(n)
	}
	return o, -1
}
func (o *opaque) close() {}

func (o *opaque) Read(p []byte) (int, error) {
	if len(o.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p, o.rest)
	o.rest = o.rest[n:]
	return n, nil
}

// pipe is an io.Pipe that a goroutine writes whole streams into. The pipe
// stays, so that the figures are not those of making pipes; its reader ends
// each stream. The length is known, as that of an HTTP body.
type pipe struct {
	r     *io.PipeReader
	sizes chan int
	left  int
}

func newPipe() source {
	r, w := io.Pipe()
	p := &pipe{r: r, sizes: make(chan int, 1)}
	go func() {
		for n := range p.sizes {
			_, err := w.Write(data[:n])
			check(err)
		}
	}()
	return p
}

func (p *pipe) next(n int) (io.Reader, int64) {
	p.left = n
	p.sizes <- n
	return p, int64(n)
}
func (p *pipe) close() { close(p.sizes) }

func (p *pipe) Read(b []byte) (int, error) {
	if p.left == 0 {
		return 0, io.EOF
	}
	n, err := p.r.Read(b)
	p.left -= n
	return n, err
}
