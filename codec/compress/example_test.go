package compress_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/firncache/firn"
	"github.com/firncache/firn/codec/compress"
)

func ExampleNew() {
	cache, err := firn.Open(firn.Options{RAMBytes: 1 << 20})
	if err != nil {
		log.Fatal(err)
	}
	defer cache.Close()
	plain, err := firn.DefaultCodec[string]()
	if err != nil {
		log.Fatal(err)
	}
	smaller, err := compress.New(plain, compress.Options{Method: compress.Zstd})
	if err != nil {
		log.Fatal(err)
	}
	pages, err := firn.NewTyped(cache, "pages", firn.TypedOptions[string, string]{Codec: smaller})
	if err != nil {
		log.Fatal(err)
	}
	if err := pages.Set("/", strings.Repeat("snow and ice, ", 4000)); err != nil {
		log.Fatal(err)
	}
	page, ok := pages.Get("/")
	fmt.Println(len(page), ok, cache.Stats().RAM.UsedBytes < 56_000)
	// Output: 56000 true true
}
