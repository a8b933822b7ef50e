//go:build race || !(amd64 || arm64 || loong64 || mips64 || mips64le || ppc64 || ppc64le || riscv64 || s390x)

package bufpool

import "sync/atomic"

// word holds a state; see word.go for why other builds store it plainly.
type word struct{ v atomic.Uint64 }

func (w *word) get() state                   { return state(w.v.Load()) }
func (w *word) set(s state)                  { w.v.Store(uint64(s)) }
func (w *word) replace(old, next state) bool { return w.v.CompareAndSwap(uint64(old), uint64(next)) }
