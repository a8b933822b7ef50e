package firn_test

import (
	"fmt"
	"log"

	"github.com/firncache/firn"
)

// A namespace for each tenant: made when it is needed, closed or forgotten when it is
// not, emptied at once.
func ExampleTyped_Close() {
	cache, err := firn.Open(firn.Options{RAMBytes: 1 << 20})
	if err != nil {
		log.Fatal(err)
	}
	defer cache.Close()
	for _, tenant := range []string{"red", "blue", "red"} {
		pages, err := firn.NewTyped(cache, "pages of "+tenant, firn.TypedOptions[string, string]{})
		if err != nil {
			log.Fatal(err)
		}
		if page, ok := pages.Get("/"); ok {
			fmt.Printf("%s has %q\n", tenant, page)
		}
		if err := pages.Set("/", "welcome, "+tenant); err != nil {
			log.Fatal(err)
		}
		if err := pages.Close(); err != nil { // the entries stay
			log.Fatal(err)
		}
	}
	// Output: red has "welcome, red"
}

func ExampleTyped_SetMulti() {
	cache, err := firn.Open(firn.Options{RAMBytes: 1 << 20})
	if err != nil {
		log.Fatal(err)
	}
	defer cache.Close()
	squares, err := firn.NewTyped(cache, "squares", firn.TypedOptions[int, int]{})
	if err != nil {
		log.Fatal(err)
	}
	if err := squares.SetMulti([]int{2, 3, 4}, []int{4, 9, 16}); err != nil {
		log.Fatal(err)
	}
	if err := squares.DeleteMulti([]int{3}); err != nil {
		log.Fatal(err)
	}
	var found firn.TypedBatch[int]
	squares.GetMulti(&found, []int{2, 3, 4})
	for i := range found.Len() {
		fmt.Println(found.Value(i))
	}
	s := squares.Stats()
	fmt.Println(squares.Len(), "entries,", s.Hits, "hits,", s.Misses, "miss")
	// Output:
	// 4 true
	// 0 false
	// 16 true
	// 2 entries, 2 hits, 1 miss
}
