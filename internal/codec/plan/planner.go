package plan

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"time"
)

// planner makes the plan of a type, and describes what it writes.
type planner struct {
	plans     map[reflect.Type]*Plan // of elements, for types that contain themselves
	described map[reflect.Type]bool
	layout    []byte // types and fields in the order of their bytes
}

// Of is the plan of a type, with a description of the layout, in which types differ that
// cannot read each other's bytes. It fails if something would not come back as it was.
func Of(t reflect.Type) (p *Plan, layout string, err error) {
	b := &planner{plans: map[reflect.Type]*Plan{}, described: map[reflect.Type]bool{}}
	if p, err = b.plan(t, TypeName(t)); err != nil {
		return nil, "", err
	}
	for _, made := range b.plans { // an array of a type in the making had no steps to count
		made.least = made.fewest()
	}
	return p, string(b.layout), nil
}

// plan is the plan of a type that stands at path. It may still be in the making, if the
// type contains itself.
func (b *planner) plan(t reflect.Type, path string) (*Plan, error) {
	if p := b.plans[t]; p != nil {
		b.describe(t, "")
		return p, nil
	}
	p := &Plan{size: t.Size()}
	b.plans[t] = p
	if err := b.add(p, t, 0, path); err != nil {
		return nil, err
	}
	return p, nil
}

// add appends the steps of what lies at offset.
func (b *planner) add(p *Plan, t reflect.Type, offset uintptr, path string) error {
	s := step{offset: offset, t: t, path: path}
	with := BinaryMethods(t)
	if with == nil && t.Kind() == reflect.Struct {
		with = TextMethods(t)
	}
	switch {
	case t == reflect.TypeFor[time.Time]():
		s.op = timeOp
		b.describe(t, "time/1")
	case with != nil:
		b.addMethods(p, s, with)
		return nil
	case JSONMethods(t) == nil:
		return b.addKind(p, s)
	default:
		return b.addOrJSON(p, s)
	}
	p.steps = append(p.steps, s)
	return nil
}

func (b *planner) addMethods(p *Plan, s step, with *Methods) {
	s.op, s.with = methodsOp, with
	b.describe(s.t, with.name)
	p.steps = append(p.steps, s)
}

// addOrJSON is addKind of a type that turns itself into JSON, which is done where there are no
// other steps for it.
func (b *planner) addOrJSON(p *Plan, s step) error {
	before, steps := *b, slices.Clone(p.steps)
	b.plans, b.described = maps.Clone(before.plans), maps.Clone(before.described)
	if b.addKind(p, s) == nil {
		return nil
	}
	*b, p.steps = before, steps
	b.addMethods(p, s, JSONMethods(s.t))
	return nil
}

// addKind appends the steps of a value by its kind.
func (b *planner) addKind(p *Plan, s step) (err error) {
	k := s.t.Kind()
	switch {
	case k == reflect.Struct:
		return b.addFields(p, s)
	case k == reflect.Array:
		return b.addArray(p, s)
	case k == reflect.Map:
		return b.addMap(p, s)
	case k == reflect.Slice || k == reflect.Pointer:
		return b.addBehind(p, s)
	case k == reflect.String:
		s.op = stringOp
	case k == reflect.Bool:
		b.describe(s.t, k.String())
		s.op, s.size, s.width = boolsOp, 1, 1
		p.join(s)
		return nil
	case k >= reflect.Int && k <= reflect.Float64:
		b.addNumbers(p, s, int(s.t.Size()))
		return nil
	case k == reflect.Complex64 || k == reflect.Complex128:
		b.addNumbers(p, s, int(s.t.Size())/2)
		return nil
	case k == reflect.Interface:
		return refuse(s.path, "is an interface, whose values' types are not known")
	default:
		return refuse(s.path, "is of type "+s.t.String()+", which has no data")
	}
	b.describe(s.t, k.String())
	p.steps = append(p.steps, s)
	return nil
}

// refuse is the error of a part that would not come back as it was.
func refuse(path, why string) error {
	return fmt.Errorf("%s %s: set a Codec, or leave the field out with the tag `firn:\"-\"`", path, why)
}

// addNumbers appends the step of a number, or of two of a complex one; or lengthens the last.
func (b *planner) addNumbers(p *Plan, s step, width int) {
	b.describe(s.t, s.t.Kind().String()+"/"+strconv.Itoa(int(s.t.Size()))) // int is not as long everywhere
	s.op, s.size, s.width = plainOp, s.t.Size(), width
	p.join(s)
}

// addBehind appends the step of a pointer or a slice.
func (b *planner) addBehind(p *Plan, s step) (err error) {
	elem, path := s.t.Elem(), s.path
	if s.op = sliceOp; s.t.Kind() == reflect.Pointer {
		s.op, s.t = pointerOp, elem
		b.describe(reflect.PointerTo(elem), "* ")
	} else {
		b.describe(s.t, "[] ")
		path += "[]"
	}
	if s.elem, err = b.plan(elem, path); err != nil {
		return err
	}
	p.steps = append(p.steps, s)
	return nil
}

func (b *planner) addArray(p *Plan, s step) (err error) {
	b.describe(s.t, "["+strconv.Itoa(s.t.Len())+"] ")
	if s.elem, err = b.plan(s.t.Elem(), s.path+"[]"); err != nil {
		return err
	}
	s.op, s.count = arrayOp, s.t.Len()
	if len(s.elem.steps) == 1 {
		first := &s.elem.steps[0]
		if first.size == s.elem.size && (first.op == plainOp || first.op == boolsOp) && s.count > 0 {
			s.op, s.size, s.width = first.op, s.t.Size(), first.width
			p.join(s)
			return nil
		}
	}
	p.steps = append(p.steps, s)
	return nil
}

func (b *planner) addMap(p *Plan, s step) (err error) {
	b.describe(s.t, "map ")
	if hasPointer(s.t.Key()) {
		return refuse(s.path, "has keys with pointers, which are equal by their addresses")
	}
	if s.key, err = b.plan(s.t.Key(), s.path+"[key]"); err != nil {
		return err
	}
	if s.elem, err = b.plan(s.t.Elem(), s.path+"[]"); err != nil {
		return err
	}
	s.op = mapOp
	p.steps = append(p.steps, s)
	return nil
}

// hasPointer reports whether == compares addresses in values of a type.
func hasPointer(t reflect.Type) bool {
	switch k := t.Kind(); {
	case t == reflect.TypeFor[time.Time]() || BinaryMethods(t) != nil:
		return false
	case k == reflect.Array:
		return hasPointer(t.Elem())
	case k == reflect.Struct:
		for i := range t.NumField() {
			if hasPointer(t.Field(i).Type) {
				return true
			}
		}
	}
	return t.Kind() == reflect.Pointer
}

// addFields appends the steps of a struct's fields.
func (b *planner) addFields(p *Plan, s step) error {
	again := b.describe(s.t, "{")
	layout := b.layout
	for i := range s.t.NumField() {
		f := s.t.Field(i)
		path := s.path + "." + f.Name
		switch tag, tagged := f.Tag.Lookup("firn"); {
		case f.Name == "_" || tag == "-":
			continue
		case tagged:
			return fmt.Errorf("%s has the tag `firn:%q`: want `firn:\"-\"`, which leaves it out", path, tag)
		case f.PkgPath != "" && !(f.Anonymous && structOf(f.Type) != nil):
			return refuse(path, "is unexported")
		}
		b.layout = append(append(b.layout, f.Name...), ' ')
		if err := b.add(p, f.Type, s.offset+f.Offset, path); err != nil {
			return err
		}
	}
	if b.layout = append(b.layout, "} "...); again {
		b.layout = layout // as it was described before
	}
	return nil
}

// describe adds a type to the layout: its name, and how it is written, unless it was
// described before.
func (b *planner) describe(t reflect.Type, how string) (again bool) {
	if t.Name() != "" {
		b.layout = append(append(b.layout, TypeName(t)...), ' ')
		if again = b.described[t]; again {
			return true
		}
		b.described[t] = true
	} else if how == "" {
		how = t.String()
	}
	b.layout = append(append(b.layout, how...), ' ')
	return false
}
