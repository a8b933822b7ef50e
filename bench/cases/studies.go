package cases

import (
	"bytes"
	"sync"

	"github.com/firncache/firn/bufpool"
)

// Studies lists them in the order of docs/internals/DECISIONS.md.
var Studies = []Study{
	{
		Name: "iterator", Claim: "asserting an interface in an iterator that wraps another is expensive; keep a second, typed field",
		Per: "step of an iterator over another",
		Variants: []Variant{
			{"assert-each-step", func() func(int) { it := newWrapped(); return it.stepAsserting }},
			{"typed-field", func() func(int) { it := newWrapped(); return it.stepTyped }},
			{"interface-call-only", func() func(int) { it := newWrapped(); return it.stepPlain }},
		},
	},
	{
		Name: "append", Claim: "append to nil is as good as make; a buffer passed in saves the allocation",
		Per: "64-byte value, copied out",
		Variants: []Variant{
			{"append-to-nil", func() func(int) { return appendToNil }},
			{"make-with-capacity", func() func(int) { return makeWithCapacity }},
			{"make-and-copy", func() func(int) { return makeAndCopy }},
			{"bytes.Clone", func() func(int) { return cloneBytes }},
			{"buffer-passed-in", func() func(int) { return bufferPassedIn }},
		},
	},
	{
		Name: "receiver", Claim: "value receivers copy: a struct of 36 fields wants a pointer receiver",
		Per: "call of a method that reads two fields",
		Variants: []Variant{
			{"value", func() func(int) { return callValue }},
			{"pointer", func() func(int) { return callPointer }},
			{"value-inlined", func() func(int) { return callValueInlined }},
			{"pointer-inlined", func() func(int) { return callPointerInlined }},
		},
	},
	{
		Name: "slices", Claim: "a slice of interfaces costs an indirection and an allocation for each element; bytes do not",
		Per: "element of 16 bytes, appended and summed",
		Variants: []Variant{
			{"interfaces", func() func(int) { return sumInterfaces }},
			{"slices-of-bytes", func() func(int) { return sumSlices }},
			{"one-byte-slice", func() func(int) { return sumFlat }},
		},
	},
	{
		Name: "pool", Claim: "sync.Pool is as fast as a pool can be",
		Per: "4 KiB buffer, borrowed, touched and given back",
		Variants: []Variant{
			{"make", func() func(int) { return poolNone }},
			{"sync.Pool-of-slices", func() func(int) { return poolSlices() }},
			{"sync.Pool-of-pointers", func() func(int) { return poolPointers() }},
			{"firn-bufpool", func() func(int) { return poolFirn() }},
		},
	},
}

// The variants write their results here, so that nothing is optimised away.
// Each runs in one goroutine.
var (
	sink      int
	bytesSink []byte
)

// An inner iterator, and the capability that some of them have besides.
type (
	inner  interface{ next() int }
	marker interface{ marked() bool }
)

type counter struct{ i int }

func (c *counter) next() int    { c.i++; return c.i }
func (c *counter) marked() bool { return c.i&1023 == 0 }

// wrapped is an iterator over another. typed is the same inner iterator, by the
// interface that the wrapper asks it for.
type wrapped struct {
	in    inner
	typed marker
}

// inners keeps the compiler from knowing which type is inside.
var inners = []inner{&counter{}}

func newWrapped() *wrapped {
	in := inners[0]
	m, _ := in.(marker)
	return &wrapped{in, m}
}

func (w *wrapped) stepAsserting(n int) {
	sum := 0
	for range n {
		sum += w.in.next()
		if m, ok := w.in.(marker); ok && m.marked() {
			sum++
		}
	}
	sink += sum
}

func (w *wrapped) stepTyped(n int) {
	sum := 0
	for range n {
		sum += w.in.next()
		if w.typed != nil && w.typed.marked() {
			sum++
		}
	}
	sink += sum
}

func (w *wrapped) stepPlain(n int) {
	sum := 0
	for range n {
		sum += w.in.next()
	}
	sink += sum
}

var value64 = bytes.Repeat([]byte{1}, 64)

func appendToNil(n int) {
	for range n {
		bytesSink = append([]byte(nil), value64...)
	}
}

func makeWithCapacity(n int) {
	for range n {
		bytesSink = append(make([]byte, 0, len(value64)), value64...)
	}
}

func makeAndCopy(n int) {
	for range n {
		b := make([]byte, len(value64))
		copy(b, value64)
		bytesSink = b
	}
}

func cloneBytes(n int) {
	for range n {
		bytesSink = bytes.Clone(value64)
	}
}

func bufferPassedIn(n int) {
	buf := make([]byte, 0, len(value64))
	for range n {
		buf = append(buf[:0], value64...)
		bytesSink = buf
	}
}

// wide has 36 fields: 288 bytes.
type wide struct {
	first                                                                                                int
	_, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _ int
	last                                                                                                 int
}

//go:noinline
func (w wide) byValue() int { return w.first + w.last }

//go:noinline
func (w *wide) byPointer() int { return w.first + w.last }

func (w wide) byValueInlined() int    { return w.first + w.last }
func (w *wide) byPointerInlined() int { return w.first + w.last }

var wides = [2]wide{{first: 1}, {last: 2}}

func callValue(n int) {
	sum := 0
	for i := range n {
		sum += wides[i&1].byValue()
	}
	sink += sum
}

func callPointer(n int) {
	sum := 0
	for i := range n {
		sum += wides[i&1].byPointer()
	}
	sink += sum
}

func callValueInlined(n int) {
	sum := 0
	for i := range n {
		sum += wides[i&1].byValueInlined()
	}
	sink += sum
}

func callPointerInlined(n int) {
	sum := 0
	for i := range n {
		sum += wides[i&1].byPointerInlined()
	}
	sink += sum
}

// An element of 16 bytes; elements are summed 64 at a time.
const (
	elementBytes = 16
	elements     = 64
)

type element struct{ b [elementBytes]byte }

type summer interface{ sum() int }

func (e *element) sum() int { return int(e.b[0]) + int(e.b[15]) }

func sumInterfaces(n int) {
	sum := 0
	for done := 0; done < n; done += elements {
		list := make([]summer, 0, elements)
		for i := range elements {
			list = append(list, &element{[elementBytes]byte{byte(i)}})
		}
		for _, e := range list {
			sum += e.sum()
		}
	}
	sink += sum
}

func sumSlices(n int) {
	sum := 0
	for done := 0; done < n; done += elements {
		list := make([][]byte, 0, elements)
		for i := range elements {
			b := make([]byte, elementBytes)
			b[0] = byte(i)
			list = append(list, b)
		}
		for _, b := range list {
			sum += int(b[0]) + int(b[15])
		}
	}
	sink += sum
}

func sumFlat(n int) {
	sum := 0
	for done := 0; done < n; done += elements {
		list := make([]byte, 0, elements*elementBytes)
		for i := range elements {
			at := len(list)
			list = list[:at+elementBytes]
			list[at] = byte(i)
		}
		for ; len(list) > 0; list = list[elementBytes:] {
			sum += int(list[0]) + int(list[15])
		}
	}
	sink += sum
}

const bufferBytes = 4 << 10

// touch writes to both ends of a buffer, as its user would.
func touch(b []byte) { b[0], b[len(b)-1] = 1, 1 }

func poolNone(n int) {
	for range n {
		bytesSink = make([]byte, bufferBytes)
		touch(bytesSink)
	}
}

// poolSlices puts slices into the pool; the conversion to an interface
// allocates.
func poolSlices() func(int) {
	p := sync.Pool{New: func() any { return make([]byte, bufferBytes) }}
	return func(n int) {
		for range n {
			b := p.Get().([]byte)
			touch(b)
			p.Put(b) //nolint:staticcheck // the allocation is measured
		}
	}
}

func poolPointers() func(int) {
	p := sync.Pool{New: func() any { b := make([]byte, bufferBytes); return &b }}
	return func(n int) {
		for range n {
			b := p.Get().(*[]byte)
			touch(*b)
			p.Put(b)
		}
	}
}

func poolFirn() func(int) {
	p, err := bufpool.New(bufpool.Options{})
	if err != nil {
		panic(err) // without options there is nothing to refuse
	}
	return func(n int) {
		for range n {
			b := p.Get(bufferBytes) // empty, with room
			touch(b.Bytes()[:bufferBytes])
			b.Release()
		}
	}
}
