package main

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/firncache/firn"
)

// pictures are grainy ones, which JPEG cannot make small.
func pictures(t *testing.T, n int) fstest.MapFS {
	t.Helper()
	files := fstest.MapFS{}
	for i := range n {
		random := rand.New(rand.NewPCG(1, uint64(i)))
		p := image.NewRGBA(image.Rect(0, 0, 400, 300))
		for y := range 300 {
			for x := range 400 {
				p.SetRGBA(x, y, color.RGBA{uint8(random.Uint32()), uint8(x), uint8(y), 255})
			}
		}
		data, err := encode(p)
		if err != nil {
			t.Fatal(err)
		}
		files[name(i)] = &fstest.MapFile{Data: data}
	}
	return files
}

func name(i int) string { return fmt.Sprintf("picture %d.jpg", i) }

func open(t *testing.T, opts firn.Options) *firn.Cache {
	t.Helper()
	c, err := firn.Open(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// get fetches a thumbnail and looks at it.
func get(t *testing.T, thumbnails *Thumbnails, name string, width int) []byte {
	t.Helper()
	data, err := thumbnails.Get(t.Context(), nil, name, width)
	if err != nil {
		t.Fatal(err)
	}
	p, err := jpeg.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Bounds().Size(); got != (image.Point{width, width * 3 / 4}) {
		t.Errorf("%s at %d is of %v", name, width, got)
	}
	return data
}

// Thumbnails of all sizes are made once, and are the same afterwards.
func TestThumbnails(t *testing.T) {
	const n = 3
	thumbnails := &Thumbnails{pictures: pictures(t, n), cache: open(t, firn.Options{RAMBytes: 16 << 20})}
	first := map[string][]byte{}
	smallest, largest := 1<<30, 0
	for range 2 {
		for i := range n {
			for _, w := range widths {
				data := get(t, thumbnails, name(i), w)
				key := fmt.Sprint(name(i), w)
				if first[key] == nil {
					first[key] = data
				} else if !bytes.Equal(first[key], data) {
					t.Errorf("%s changed", key)
				}
				smallest, largest = min(smallest, len(data)), max(largest, len(data))
			}
		}
	}
	if made := thumbnails.made.Load(); made != int64(n*len(widths)) {
		t.Errorf("%d made, want %d", made, n*len(widths))
	}
	if smallest > 4<<10 || largest < 64<<10 {
		t.Errorf("from %d to %d bytes: want mixed sizes", smallest, largest)
	}
}

// More thumbnails than the cache holds stay within its budget.
func TestBudget(t *testing.T) {
	const budget = 1 << 20
	cache := open(t, firn.Options{RAMBytes: budget})
	thumbnails := &Thumbnails{pictures: pictures(t, 4), cache: cache}
	for i := range 4 {
		for w := 32; w <= 512; w += 32 {
			get(t, thumbnails, name(i), w)
			if s := cache.Stats(); s.RAMUsedBytes > budget {
				t.Fatalf("%d bytes in use, want at most %d", s.RAMUsedBytes, budget)
			}
		}
	}
	if cache.Stats().Evictions == 0 {
		t.Error("nothing was evicted: the test fills too little")
	}
}

func TestErrors(t *testing.T) {
	files := fstest.MapFS{"text.jpg": &fstest.MapFile{Data: []byte("no picture")}}
	thumbnails := &Thumbnails{pictures: files, cache: open(t, firn.Options{RAMBytes: 1 << 20})}
	if _, err := thumbnails.Get(t.Context(), nil, "absent.jpg", 64); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an absent picture: %v", err)
	}
	if _, err := thumbnails.Get(t.Context(), nil, "text.jpg", 64); !errors.Is(err, image.ErrFormat) {
		t.Errorf("no picture: %v", err)
	}
	if _, err := thumbnails.Get(t.Context(), nil, "text.jpg", 0); err == nil {
		t.Error("no width: no error")
	}
}

// The command prints a line for each thumbnail.
func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run(&out, pictures(t, 2), []string{name(0), name(1)}); err != nil {
		t.Fatal(err)
	}
	lines := slices.Collect(strings.Lines(out.String()))
	if len(lines) != 2*len(widths) || !strings.HasPrefix(lines[3], name(1)+" at 64: ") {
		t.Errorf("%q", lines)
	}
}
