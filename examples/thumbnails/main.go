// Command thumbnails scales pictures down, to whatever width is asked for, and
// keeps the results: from one to a hundred kilobytes each, the latest in RAM and
// many more on SSD. Called again, it finds them there.
//
//	thumbnails cache-directory picture.jpg...
//
// With an address it serves the pictures of the current directory, such as
// http://localhost:8080/256/picture.jpg, and shows the cache at work at
// http://localhost:8080/debug/firn/.
//
//	thumbnails -listen localhost:8080 cache-directory
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/jpeg"
	_ "image/png" // decode PNG too
	"io"
	"io/fs"
	"log"
	"os"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/firncache/firn"
	"golang.org/x/image/draw"
)

// Thumbnails makes and keeps small copies of the pictures in a directory.
type Thumbnails struct {
	pictures fs.FS
	cache    *firn.Cache
	made     atomic.Int64 // how many were not in the cache
}

// Get returns a picture at a width, as JPEG, after buf's bytes. Give it the
// buffer of the call before, and it copies and allocates nothing else.
func (t *Thumbnails) Get(ctx context.Context, buf []byte, name string, width int) ([]byte, error) {
	key := fmt.Appendf(nil, "%d %s", width, name)
	return t.cache.GetOrLoad(ctx, buf, key, t.load)
}

var errWidth = errors.New("want a width of 1 to 4096")

// load makes what Get's key says.
func (t *Thumbnails) load(_ context.Context, key []byte) ([]byte, error) {
	t.made.Add(1)
	width, name, _ := strings.Cut(string(key), " ")
	w, err := strconv.Atoi(width)
	if err != nil || w < 1 || w > 4096 {
		return nil, fmt.Errorf("%s: %w: %s", name, errWidth, width)
	}
	file, err := t.pictures.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	picture, _, err := image.Decode(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return encode(scale(picture, w))
}

// scale makes a picture as wide as w, with the same proportions.
func scale(picture image.Image, w int) image.Image {
	from := picture.Bounds()
	h := max(1, w*from.Dy()/max(1, from.Dx()))
	to := image.NewRGBA(image.Rect(0, 0, w, h))
	draw.CatmullRom.Scale(to, to.Bounds(), picture, from, draw.Src, nil)
	return to
}

func encode(picture image.Image) ([]byte, error) {
	var b bytes.Buffer
	err := jpeg.Encode(&b, picture, nil)
	return b.Bytes(), err
}

// widths are those that a page asks for.
var widths = []int{64, 256, 1024}

// options are a little RAM above a good deal of SSD. What was made is worth
// keeping: all of it is written, read or not.
func options(dir string) firn.Options {
	return firn.Options{
		RAMBytes: 16 << 20,
		SSD:      firn.SSDOptions{Dir: dir, Bytes: 256 << 20, Admission: firn.AdmitAll},
	}
}

// run makes the thumbnails of a page.
func run(out io.Writer, dir string, pictures fs.FS, names []string) error {
	return with(dir, pictures, func(thumbnails *Thumbnails) (err error) {
		var buf []byte
		for _, name := range names {
			for _, w := range widths {
				if buf, err = thumbnails.Get(context.Background(), buf[:0], name, w); err != nil {
					return err
				}
				fmt.Fprintf(out, "%s at %d: %d bytes\n", name, w, len(buf))
			}
		}
		fmt.Fprintf(out, "%d made, the others were there\n", thumbnails.made.Load())
		return nil
	})
}

// with calls use with thumbnails whose cache has its files in dir, and closes them.
func with(dir string, pictures fs.FS, use func(*Thumbnails) error) error {
	cache, err := firn.Open(options(dir))
	if err != nil {
		return err
	}
	return errors.Join(use(&Thumbnails{pictures: pictures, cache: cache}), cache.Close())
}

func main() {
	listen := flag.String("listen", "", "serve pictures at this `address`, such as localhost:8080")
	flag.Parse()
	if flag.NArg() < 1 {
		log.Fatal("usage: thumbnails [-listen address] cache-directory picture.jpg...")
	}
	var err error
	if dir, pictures := flag.Arg(0), os.DirFS("."); *listen == "" {
		err = run(os.Stdout, dir, pictures, flag.Args()[1:])
	} else {
		err = with(dir, pictures, func(t *Thumbnails) error { return listenAndServe(*listen, t) })
	}
	if err != nil {
		log.Fatal(err)
	}
}
