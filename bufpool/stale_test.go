package bufpool

import (
	"bytes"
	"testing"
)

// What is read through a slice that was kept beyond Release is poison in a
// checked pool, also once the block was lent again and written.
func TestReadAfterNextLendIsPoison(t *testing.T) {
	t.Parallel()
	for _, offHeap := range []bool{false, true} {
		p, err := New(Options{Levels: []Level{{Size: 4096, OffHeap: offHeap}}, Checked: true})
		if err != nil {
			t.Fatal(err)
		}
		lendAgain := func(first *Buffer) *Buffer {
			for range 1000 { // until the scheduler leaves the test on one processor
				if b := p.Get(10); b.slot == first.slot {
					return b
				} else {
					b.Release()
				}
			}
			t.Fatal("a buffer was never lent again")
			return nil
		}
		other := p.Get(10) // of a common growth step
		for range 3 {
			p.Get(10).Release()
		}
		b := p.Get(10)
		b.WriteString("mine")
		stale := b.Bytes()
		b.Release()
		next := lendAgain(b)
		next.Write(bytes.Repeat([]byte("secret"), 100))
		if !bytes.Equal(stale, poisonPage[:len(stale)]) {
			t.Errorf("off-heap: %v: a slice from before Release shows %q, expected poison", offHeap, stale)
		}
		next.Release()
		other.Release()
		if s := p.Stats()[0]; s.InUse != 0 || s.Bytes != int64(s.Idle*s.Size) {
			t.Errorf("%+v: want the bytes of the idle buffers", s)
		}
	}
}
