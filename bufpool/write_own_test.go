package bufpool_test

import (
	"bytes"
	"testing"

	"github.com/firncache/firn/bufpool"
)

// What Write is given may be any part of the buffer, what has been read of it too.
func TestWriteOfWhatWasRead(t *testing.T) {
	pool, err := bufpool.New(bufpool.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for size := 1; size <= 300; size++ {
		for read := 0; read <= size; read++ {
			b := pool.Get(0)
			var want []byte
			for i := range size {
				want = append(want, byte(i))
			}
			_, _ = b.Write(want)
			rest := append(bytes.Clone(want[read:]), want[:read]...)
			if _, err := b.Write(b.Next(read)); err != nil || !bytes.Equal(b.Bytes(), rest) {
				t.Fatalf("%d of %d bytes read and written again: %v, %v", read, size, b.Bytes(), err)
			}
			b.Release()
		}
	}
}
