package lincheck

import "github.com/anishathalye/porcupine"

// A key that is loaded, as its callers see it. A load is two things: the moment
// when its loader asks the source, and callers that get its answer. From that
// moment on the load is open, until a write supersedes it. A caller gets the
// value that is there, or the answer of an open load, which is there from then
// on, or is not, if a write is about to supersede it.
//
// So no caller that comes after a write gets the answer of a load that began
// before it, and no such answer is there after the write.
type loadState struct {
	value uint64 // absent, remembered, of a Set, or of a load
	old   bool   // it has expired: only a caller who loads may still get it
	open  [4]uint64
	none  bool // a load is open that found nothing
}

const (
	began     = op(iota + 100) // a loader asks the source, which answers with the call's value
	getOrLoad                  // by GetOrLoad or GetOrLoadMulti
	refresh
)

const (
	firstLoad  = uint64(1) << 32       // answers of loads count from here
	mostLoads  = 4 * 64                // as many are told apart
	foundNone  = firstLoad + mostLoads // the answer of loads that find nothing
	remembered = foundNone             // and what is there then
)

func (s *loadState) isOpen(value uint64) bool {
	if value == foundNone {
		return s.none
	}
	n := value - firstLoad
	return value >= firstLoad && s.open[n/64]>>(n%64)&1 != 0
}

func (s *loadState) begin(value uint64) {
	if value == foundNone {
		s.none = true
		return
	}
	n := value - firstLoad
	s.open[n/64] |= 1 << (n % 64)
}

// loading is the model; expires says that values have an end.
func loading(expires bool) porcupine.Model {
	m := porcupine.NondeterministicModel{
		Partition: byKey,
		Init:      func() []any { return []any{loadState{}} },
		Step: func(state, input, output any) []any {
			return state.(loadState).step(input.(call), output.(answer), expires)
		},
		DescribeOperation: describeLoad,
	}
	return m.ToModel()
}

func (s loadState) step(in call, out answer, expires bool) (next []any) {
	got := out.value
	switch in.op {
	case set:
		return []any{loadState{value: in.value}}
	case del:
		return []any{loadState{}}
	case began:
		s.begin(in.value)
		return []any{s}
	case get:
		there := s.value != absent && s.value != remembered && !s.old
		switch {
		case out.ok && there && got == s.value, !out.ok && !there:
			return []any{s}
		case !out.ok && expires:
			s.old = true
			return []any{s}
		case out.ok && expires && s.isOpen(got): // of a refresh, which nobody waited for
			s.value, s.old = got, false
			return []any{s}
		}
		return nil
	}
	if out.failed {
		return []any{s} // nothing is known, nothing has changed
	}
	if in.op == getOrLoad && got == s.value && (expires || !s.old) {
		next = append(next, s)
	}
	if s.isOpen(got) {
		next = append(next, s)
		s.value, s.old = got, false
		next = append(next, s)
	}
	return next
}
