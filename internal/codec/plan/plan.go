// Package plan turns values into bytes and back by a plan that reflection makes once for
// their type: planner.go makes it, write.go and read.go follow it. Types may have methods for
// that of their own: methods.go and promoted.go.
package plan

import (
	"encoding/binary"
	"reflect"
)

// Plan is how values of one type become bytes, and back: one step after the other,
// and nothing between their bytes.
//
//	number              its bits, little-endian
//	bool                one byte, 0 or 1
//	string              its length as a uvarint, then its bytes
//	time                as time/1 has it
//	pointer             0 if it is nil; otherwise 1, then what it leads to
//	slice               0 if it is nil; otherwise its length + 1 as a uvarint, then its elements
//	map                 likewise, then its keys, each followed by its value, in the order of the keys' bytes
//	array, struct       its elements or fields
//	by its own methods  the length of what they write as a uvarint, then that
//
// Elements that have no bytes, but memory, are a 0 each in a slice: so a length that no
// bytes bear out is never believed.
type Plan struct {
	steps []step
	size  uintptr // of a value in memory
	least int     // the fewest bytes that a value becomes
}

// step is one part of a value, or adjacent numbers.
type step struct {
	op        op
	offset    uintptr
	size      uintptr      // in memory, of plainOp and boolsOp
	width     int          // of each number; 1 if its bytes lie in memory as they are written
	count     int          // of an array's elements
	t         reflect.Type // of a slice, a map, what a pointer leads to or what has methods
	key, elem *Plan
	with      *Methods
	path      string // from the type that the outermost plan is of, for errors
}

type op uint8

const (
	plainOp op = iota // numbers
	boolsOp           // a bool, or an array of them
	stringOp
	timeOp
	pointerOp // elem is of what it leads to
	sliceOp
	arrayOp // of elements that are neither numbers nor bools
	mapOp
	methodsOp
)

// maxDepth is how many pointers, slices and maps may lie within each other: more are
// refused, as a cycle is.
const maxDepth = 1000

var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// isPlain reports whether a value's bytes are its memory, numbers of one width.
func (p *Plan) isPlain() bool {
	return len(p.steps) == 1 && p.steps[0].op == plainOp && p.steps[0].size == p.size
}

// Least is the fewest bytes that a value becomes.
func (p *Plan) Least() int { return p.least }

// isPadded reports whether an element of a slice is a byte that says nothing.
func (p *Plan) isPadded() bool { return p.least == 0 && p.size > 0 }

// fewest is how many bytes the steps write at least.
func (p *Plan) fewest() (n int) {
	for i := range p.steps {
		n += p.steps[i].fewest()
	}
	return n
}

// fewest is how many bytes a step writes at least.
func (s *step) fewest() int {
	switch s.op {
	case plainOp, boolsOp:
		return int(s.size)
	case timeOp:
		return timeLen
	case arrayOp:
		return s.count * s.elem.fewest()
	}
	return 1
}

// join appends a step, or makes the last one longer.
func (p *Plan) join(s step) {
	if littleEndian {
		s.width = 1
	}
	if n := len(p.steps); n > 0 {
		last := &p.steps[n-1]
		if last.op == s.op && last.width == s.width && last.offset+last.size == s.offset {
			last.size += s.size
			return
		}
	}
	p.steps = append(p.steps, s)
}
