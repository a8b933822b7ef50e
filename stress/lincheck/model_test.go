package lincheck

import (
	"fmt"

	"github.com/anishathalye/porcupine"
)

// call is one operation on a key.
type call struct {
	op    op
	key   int
	value uint64 // of a set
}

type op uint8

const (
	get op = iota
	set
	del
)

// answer is what a call returned.
type answer struct {
	value  uint64
	ok     bool
	failed bool // an error of the loader's
}

// absent is the state of a register without a value; written ones are above 0.
const absent = uint64(0)

// register is a key of a cache that evicts nothing: a get returns the value
// that was set last, or nothing if the key was deleted since.
var register = model(func(value uint64, out answer) (bool, uint64) {
	return out.ok == (value != absent) && out.value == value, value
})

// evicting is a key of a cache that evicts: a get may find nothing at any time,
// and then the value that was there does not come back.
var evicting = model(func(value uint64, out answer) (bool, uint64) {
	if !out.ok {
		return true, absent // gone, for good
	}
	return out.value == value, value
})

// moving is a key of a cache of two tiers: a get may find nothing at any time, also
// while the value moves between the two, after which it is there again. The value
// found is the one that was set last.
var moving = model(func(value uint64, out answer) (bool, uint64) {
	return !out.ok || out.value == value && value != absent, value
})

// model is a key whose gets return what found allows: given the value that the key
// has, it reports whether the answer may be, and the value afterwards.
func model(found func(value uint64, out answer) (bool, uint64)) porcupine.Model {
	return porcupine.Model{
		Partition: byKey,
		Init:      func() any { return absent },
		Step: func(state, input, output any) (bool, any) {
			switch in := input.(call); in.op {
			case set:
				return true, in.value
			case del:
				return true, absent
			}
			ok, value := found(state.(uint64), output.(answer))
			return ok, value
		},
		DescribeOperation: describe,
	}
}

func byKey(history []porcupine.Operation) (parts [][]porcupine.Operation) {
	keys := map[int][]porcupine.Operation{}
	for _, o := range history {
		k := o.Input.(call).key
		keys[k] = append(keys[k], o)
	}
	for _, part := range keys {
		parts = append(parts, part)
	}
	return parts
}

func describe(input, output any) string {
	in := input.(call)
	switch in.op {
	case set:
		return fmt.Sprintf("set(%d, %d)", in.key, in.value)
	case del:
		return fmt.Sprintf("delete(%d)", in.key)
	}
	out := output.(answer)
	return fmt.Sprintf("get(%d) -> %d, %v", in.key, out.value, out.ok)
}
