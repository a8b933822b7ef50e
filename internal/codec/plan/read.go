package plan

import (
	"fmt"
	"reflect"
	"time"

	"github.com/firncache/firn/internal/offheap"
)

// Read makes a value, in memory that is zero, of bytes of any kind.
func (p *Plan) Read(mem offheap.Fields, src []byte) error {
	r := reader{all: src}
	if err := p.read(mem, &r, 0); err != nil {
		return err
	}
	return r.end()
}

// read makes a value in memory that is zero, of bytes of any kind.
func (p *Plan) read(mem offheap.Fields, r *reader, depth int) (err error) {
	for i := range p.steps {
		s := &p.steps[i]
		ok := true
		switch s.op {
		case plainOp:
			ok = r.numbers(mem.Bytes(s.offset, s.size), s.width)
		case boolsOp:
			ok = r.bools(mem.Bytes(s.offset, s.size))
		case stringOp:
			*mem.String(s.offset), ok = r.string()
		default:
			err = s.read(mem.At(s.offset), r, depth)
		}
		if !ok {
			return s.damaged()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *step) damaged() error { return fmt.Errorf("%w: %s cannot be read", errDamaged, s.path) }

// read makes a part that is not only copied.
func (s *step) read(mem offheap.Fields, r *reader, depth int) (err error) {
	if depth >= maxDepth {
		return s.damaged()
	}
	switch s.op {
	case timeOp:
		if err = r.time(offheap.As[time.Time](mem)); err != nil {
			err = fmt.Errorf("%s: %w", s.path, err)
		}
		return err
	case pointerOp:
		b, ok := r.take(1)
		if !ok || b[0] > 1 {
			return s.damaged()
		}
		if b[0] == 0 {
			return nil
		}
		to := offheap.FieldsAt(reflect.New(s.t))
		mem.SetPointer(0, to)
		return s.elem.read(to, r, depth+1)
	case sliceOp:
		return s.readSlice(mem, r, depth)
	case mapOp:
		return s.readMap(mem.Value(s.t, 0), r, depth)
	case methodsOp:
		n, ok := r.length()
		if !ok {
			return s.damaged()
		}
		b, _ := r.take(n)
		if err = s.with.Decode(b, mem.Value(s.t, 0).Addr().Interface()); err != nil {
			err = fmt.Errorf("%s: %w", s.path, err)
		}
		return err
	}
	return s.elem.readEach(mem, s.count, r, depth)
}

func (p *Plan) readEach(mem offheap.Fields, n int, r *reader, depth int) error {
	if p.least == 0 {
		return nil
	}
	for i := range n {
		if err := p.read(mem.At(uintptr(i)*p.size), r, depth); err != nil {
			return err
		}
	}
	return nil
}

func (s *step) readSlice(mem offheap.Fields, r *reader, depth int) error {
	p := s.elem
	least := p.least
	if p.isPadded() {
		least = 1
	}
	n, isNil, ok := r.count(least)
	switch {
	case !ok:
		return s.damaged()
	case isNil:
		return nil
	case n == 0:
		mem.SetSlice(0, []byte{}, 0)
		return nil
	case p.isPlain():
		b, _ := r.take(n * int(p.size))
		elements := make([]byte, len(b))
		copy(elements, b)
		reverseEach(elements, p.steps[0].width)
		mem.SetSlice(0, elements, n)
		return nil
	}
	v := mem.Value(s.t, 0)
	v.Grow(n)
	v.SetLen(n)
	v.SetCap(n) // who appends to one of two copies of the slice must not meet the other
	if p.least == 0 {
		if p.isPadded() {
			r.take(n)
		}
		return nil
	}
	elements, _, _ := mem.Slice(0)
	return p.readEach(elements, n, r, depth+1)
}

func (s *step) readMap(m reflect.Value, r *reader, depth int) error {
	n, isNil, ok := r.count(s.key.least + s.elem.least)
	if !ok || n > 1 && s.key.least == 0 {
		return s.damaged()
	}
	if isNil {
		return nil
	}
	m.Set(reflect.MakeMapWithSize(s.t, n))
	k, v := reflect.New(s.t.Key()), reflect.New(s.t.Elem())
	for range n {
		k.Elem().SetZero()
		v.Elem().SetZero()
		if err := s.key.read(offheap.FieldsAt(k), r, depth+1); err != nil {
			return err
		}
		if err := s.elem.read(offheap.FieldsAt(v), r, depth+1); err != nil {
			return err
		}
		m.SetMapIndex(k.Elem(), v.Elem())
	}
	return nil
}
