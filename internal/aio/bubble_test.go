package aio_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/firncache/firn/internal/vfs/vfstest"

	"github.com/firncache/firn/internal/aio"
	"github.com/firncache/firn/internal/vfs"
)

// Readers in different synctest bubbles, and outside, share no channel.
func TestBubbles(t *testing.T) {
	read := func(t *testing.T) {
		file, err := vfstest.NewMem().Open("f", vfs.OpenOptions{Create: true})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := file.WriteAt(make([]byte, 4096), 0); err != nil {
			t.Fatal(err)
		}
		r, err := aio.Open(aio.Config{File: file, Mode: aio.Pread})
		if err != nil {
			t.Fatal(err)
		}
		reqs := []aio.Request{{N: 4096}, {N: 4096}}
		for range 10 {
			r.ReadMany(context.Background(), reqs)
			for i := range reqs {
				if reqs[i].Err != nil {
					t.Fatal(reqs[i].Err)
				}
				reqs[i].Buf.Release()
			}
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	synctest.Test(t, read)
	synctest.Test(t, read)
	read(t)
}
