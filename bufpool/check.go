package bufpool

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
)

const packagePath = "github.com/firncache/firn/bufpool."

// poisonByte fills released memory in checked pools.
const poisonByte = 0xDB

var poisonPage = bytes.Repeat([]byte{poisonByte}, 4096)

// trace is where a buffer was taken, and where it was released. Checked pools
// only; immutable once written, except that Release adds the second place.
type trace struct {
	serial   uint64 // number of the lend in its pool
	taken    []uintptr
	released atomic.Pointer[[]uintptr]
}

// callers is the stack of the caller.
func callers() []uintptr {
	pcs := make([]uintptr, 32)
	return pcs[:runtime.Callers(2, pcs)]
}

// renew inspects an idle block, and gives it a fresh handle and fresh memory, so
// that a handle of an earlier lend never passes for this one, and a slice of it
// never shows bytes written now.
func (b *Buffer) renew() *Buffer {
	sl := b.slot
	if sl.trace != nil {
		if i := unpoisoned(b.mem); i >= 0 {
			panic(fmt.Sprintf("bufpool: byte %d of a %d-byte buffer was written after Release%s", i, len(b.mem), sl.trace))
		}
		b.mem = sl.level.replace(sl)
	}
	b = newHandle(b.block, b.mem)
	b.trace = &trace{serial: sl.level.pool.serial.Add(1), taken: callers()}
	sl.trace = b.trace
	return b
}

// poison overwrites the memory of a buffer whose last reference ended.
func (b *Buffer) poison() {
	for rest := b.mem; len(rest) > 0; {
		rest = rest[copy(rest, poisonPage):]
	}
	here := callers()
	b.slot.trace.released.Store(&here)
}

// unpoisoned is the index of the first byte that is not poison, or -1.
func unpoisoned(mem []byte) int {
	for at := 0; at < len(mem); at += len(poisonPage) {
		page := mem[at:min(at+len(poisonPage), len(mem))]
		if bytes.Equal(page, poisonPage[:len(page)]) {
			continue
		}
		for i, c := range page {
			if c != poisonByte {
				return at + i
			}
		}
	}
	return -1
}

// misused panics with the misuse of the handle.
func (b *Buffer) misused(method string) {
	s := b.slot.state.get()
	if b.shared(s) {
		panic(fmt.Sprintf("bufpool: %s on a buffer with %d references: it is read-only until the others are released%s", method, s.refs(), b.trace))
	}
	when := "after Release"
	if s.lends() != b.lent.lends() {
		when = "after Release, and its memory has been lent again since"
	}
	panic(fmt.Sprintf("bufpool: %s on a buffer %s%s", method, when, b.trace))
}

// String is the places, each on lines of its own; nothing for an unchecked pool.
func (t *trace) String() string {
	if t == nil {
		return "; Options.Checked tells where it was taken"
	}
	s := "\ntaken at\n" + stack(t.taken)
	if r := t.released.Load(); r != nil {
		s += "released at\n" + stack(*r)
	}
	return s
}

// stack prints frames from the first outside the package.
func stack(pcs []uintptr) string {
	var s strings.Builder
	inside := true
	frames := runtime.CallersFrames(pcs)
	for {
		f, more := frames.Next()
		inside = inside && strings.HasPrefix(f.Function, packagePath) && !strings.HasSuffix(f.File, "_test.go")
		if !inside {
			fmt.Fprintf(&s, "\t%s\n\t\t%s:%d\n", f.Function, f.File, f.Line)
		}
		if !more {
			return s.String()
		}
	}
}

func rangeError(method string, n, most int) error {
	return fmt.Errorf("bufpool: %s(%d): want 0 to %d", method, n, most)
}
