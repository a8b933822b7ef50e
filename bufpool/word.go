//go:build !race && (amd64 || arm64 || loong64 || mips64 || mips64le || ppc64 || ppc64le || riscv64 || s390x)

package bufpool

import "sync/atomic"

// word holds a state that has one writer at a time: the owner of the block's
// last reference. set is a plain store, since an atomic one costs as much as
// everything else in Get. Stats may read at the same moment; Go's memory model
// gives such a read of one machine word either the old value or the new.
// Where a word is smaller, and in race builds, set is atomic.
type word struct{ v uint64 }

func (w *word) get() state  { return state(atomic.LoadUint64(&w.v)) }
func (w *word) set(s state) { w.v = uint64(s) }
func (w *word) replace(old, next state) bool {
	return atomic.CompareAndSwapUint64(&w.v, uint64(old), uint64(next))
}
