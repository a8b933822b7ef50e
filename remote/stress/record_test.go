//go:build linux

package stress

import (
	"encoding/binary"
	"fmt"

	"golang.org/x/sys/unix"
)

// now is the time of all processes, in nanoseconds.
func now() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic(err)
	}
	return t.Nano()
}

// kind is what a record tells.
type kind uint8

const (
	kindRead   kind = iota + 1 // a value that was found
	kindMiss                   // none was found, or the tier was not to be had
	kindWrite                  // acknowledged: a value, or the absence of older ones
	kindFailed                 // a write whose outcome nobody knows
	kindLocal                  // with nobody at work, what a read finds; 0: nothing
	kindShared                 // and what the server has
	kindFigure                 // Key is which, Value how much
	kindDone                   // a command is done
)

// record is what a process tells of one call.
type record struct {
	Kind     kind
	Op       op
	Process  uint8
	Worker   uint8
	Key      uint32
	Value    int64
	From, To int64
}

const recordLen = 32

func (r *record) append(dst []byte) []byte {
	dst = append(dst, byte(r.Kind), byte(r.Op), r.Process, r.Worker)
	dst = binary.LittleEndian.AppendUint32(dst, r.Key)
	for _, n := range []int64{r.Value, r.From, r.To} {
		dst = binary.LittleEndian.AppendUint64(dst, uint64(n))
	}
	return dst
}

func parseRecord(b []byte) record {
	number := func(i int) int64 { return int64(binary.LittleEndian.Uint64(b[i:])) }
	return record{kind(b[0]), op(b[1]), b[2], b[3], binary.LittleEndian.Uint32(b[4:]), number(8), number(16), number(24)}
}

// String is a line of a key's history.
func (r record) String() string {
	what := map[kind]string{kindRead: "read", kindMiss: "missed", kindWrite: "wrote", kindFailed: "failed to write"}[r.Kind]
	return fmt.Sprintf("%d.%03d ms + %d µs: process %d.%d %v: %s %d", r.From/1e6, r.From/1e3%1e3, (r.To-r.From)/1e3, r.Process, r.Worker, r.Op, what, r.Value)
}

// op is a call.
type op uint8

const (
	opGet op = iota
	opLookup
	opGetMulti
	opGetOrLoad
	opTyped
	opSet
	opSetMulti
	opDelete
	opDeleteMulti
	opTouch
	opCompute
	opIncrement
	opInvalidateTag
	opSettle
	opLoss
	ops
)

func (o op) String() string {
	return [ops]string{"Get", "Lookup", "GetMulti", "GetOrLoad", "typed GetOrLoad", "Set", "SetMulti", "Delete", "DeleteMulti", "Touch",
		"Compute", "Increment", "InvalidateTag", "settled", "loss"}[o]
}
