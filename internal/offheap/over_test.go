package offheap

import (
	"bytes"
	"testing"
)

// aligned is memory of the Go heap, each byte 7, n bytes of it.
func aligned(n int) []byte {
	words := make([]uint64, (n+7)/8)
	b := WordBytes(words)[:n]
	for i := range b {
		b[i] = 7
	}
	return b
}

// A region over given memory is that memory, and leaves it to whoever gave it.
func TestOver(t *testing.T) {
	t.Parallel()
	b := aligned(20_001)
	r := Over(b)
	if r.Size() != uint64(len(b)) {
		t.Errorf("Size = %d, want %d", r.Size(), len(b))
	}
	r.CopyIn(10_000, []byte("here"))
	if got := b[10_000:10_004]; string(got) != "here" {
		t.Errorf("%q in the memory, want here", got)
	}
	if got := r.AppendOut(nil, 20_000, 1); got[0] != 7 {
		t.Errorf("%d in the last byte, want 7", got[0])
	}
	r.AdviseHuge(0, r.Size())
	r.AdviseSmall()
	if err := r.Prefault(0, r.Size()); err != nil {
		t.Error(err)
	}
	if err := r.Release(); err != nil {
		t.Error(err)
	}
	if b[20_000] != 7 || string(b[10_000:10_004]) != "here" {
		t.Error("the memory has changed")
	}
}

func TestOverDecommitClears(t *testing.T) {
	t.Parallel()
	for name, memory := range map[string]func(*testing.T, int) []byte{
		"heap":   func(_ *testing.T, n int) []byte { return aligned(n) },
		"shared": shared,
	} {
		for _, c := range []struct{ off, n int }{
			{0, 0}, {0, 1}, {5, 100}, {4096, 4096}, {4095, 4098}, {0, 100_000}, {1, 99_998}, {8191, 60_000}, {99_999, 1},
		} {
			b := memory(t, 100_000)
			want := bytes.Clone(b)
			clear(want[c.off : c.off+c.n])
			if err := Over(b).Decommit(uint64(c.off), uint64(c.n)); err != nil {
				t.Errorf("%s, [%d,+%d): %v", name, c.off, c.n, err)
			}
			if !bytes.Equal(b, want) {
				t.Errorf("%s, [%d,+%d): other bytes are zero, or not all of these", name, c.off, c.n)
			}
		}
	}
}

func TestOverRefuses(t *testing.T) {
	t.Parallel()
	for name, b := range map[string][]byte{"nothing": nil, "misaligned": aligned(16)[4:]} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a region over %s is made", name)
				}
			}()
			Over(b)
		}()
	}
}
