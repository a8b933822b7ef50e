package vfstest

import (
	"fmt"
	"strings"
)

// keptOps is how many operations a log remembers.
const keptOps = 1000

// oplog counts operations and remembers the last of them.
type oplog struct {
	entries [keptOps]*logEntry // the nth operation at n % keptOps
	n       int                // operations so far
	counts  map[opKey]int
}

type opKey struct {
	kind Kind
	name string
}

type logEntry struct {
	op   string
	done bool
	err  error // if done
}

// begin numbers and notes an operation.
func (l *oplog) begin(op *Op) *logEntry {
	l.n++
	op.N = l.n
	if l.counts == nil {
		l.counts = map[opKey]int{}
	}
	l.counts[opKey{op.Kind, op.Name}]++
	entry := &logEntry{op: op.String()}
	l.entries[l.n%keptOps] = entry
	return entry
}

// Count is how many operations of these kinds there were, with those that
// failed, on the file of that name; "" stands for all files.
func (f *Faulty) Count(kinds Kind, name string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for key, count := range f.log.counts {
		if key.kind&kinds != 0 && (name == "" || key.name == name) {
			n += count
		}
	}
	return n
}

// Log is the last 1000 operations, a line each: number, operation, and the error
// or that it still goes on.
func (f *Faulty) Log() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var b strings.Builder
	for n := max(1, f.log.n-keptOps+1); n <= f.log.n; n++ {
		entry := f.log.entries[n%keptOps]
		fmt.Fprintf(&b, "%6d %s", n, entry.op)
		switch {
		case !entry.done:
			b.WriteString(" ...")
		case entry.err != nil:
			fmt.Fprintf(&b, ": %v", entry.err)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
