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

// Many more thumbnails than the RAM holds are made once, unless the disk was too
// slow to take them all.
func TestHybrid(t *testing.T) {
	opts := options(t.TempDir())
	opts.RAMBytes, opts.SSD.SegmentBytes = 2<<20, 256<<10
	cache := open(t, opts)
	thumbnails := &Thumbnails{pictures: pictures(t, 4), cache: cache}
	var bytes, first int64
	for round := range 2 {
		for i := range 4 {
			for w := 64; w <= 1024; w += 64 {
				data, err := thumbnails.Get(t.Context(), nil, name(i), w)
				if err != nil {
					t.Fatal(err)
				}
				if round == 0 {
					bytes, first = bytes+int64(len(data)), first+1
				}
				if s := cache.Stats(); s.RAM.UsedBytes > opts.RAMBytes || s.SSD.Bytes > opts.SSD.Bytes {
					t.Fatalf("%d bytes of RAM and %d of SSD: want at most %d and %d", s.RAM.UsedBytes, s.SSD.Bytes, opts.RAMBytes, opts.SSD.Bytes)
				}
			}
		}
	}
	if bytes < 2*opts.RAMBytes {
		t.Errorf("%d bytes of thumbnails: want more than the RAM holds", bytes)
	}
	s, again := cache.Stats(), thumbnails.made.Load()-first
	if lost := int64(s.SSD.Dropped + s.SSD.TooLarge + s.SSD.Rejected + s.SSD.Limited); again > lost {
		t.Errorf("%d were made again, and %d were not written", again, lost)
	}
	if s.SSD.Hits == 0 && again < first/2 {
		t.Errorf("%d of %d were made again, and none came from the SSD", again, first)
	}
	t.Logf("%d thumbnails of %d bytes; %d hits on SSD, %d made again", first, bytes, s.SSD.Hits, again)
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

// The command prints a line for each thumbnail. Called again, it makes none.
func TestRun(t *testing.T) {
	dir, files := t.TempDir(), pictures(t, 2)
	for _, made := range []string{"6 made", "0 made"} {
		var out strings.Builder
		if err := run(&out, dir, files, []string{name(0), name(1)}); err != nil {
			t.Fatal(err)
		}
		lines := slices.Collect(strings.Lines(out.String()))
		if len(lines) != 7 || !strings.HasPrefix(lines[3], name(1)+" at 64: ") || !strings.HasPrefix(lines[6], made) {
			t.Errorf("%q, want 6 thumbnails, %s", lines, made)
		}
	}
}
