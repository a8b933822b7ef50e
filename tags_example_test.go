package firn_test

import (
	"context"
	"fmt"
	"log"

	"github.com/firncache/firn"
)

// A page shows a product among others of its category: it is made anew when either
// changes.
func ExampleTyped_InvalidateTag() {
	c := mustOpen(firn.Options{RAMBytes: 1 << 20})
	defer c.Close()
	pages, err := firn.NewTyped(c, "pages", firn.TypedOptions[string, string]{})
	if err != nil {
		log.Fatal(err)
	}
	price := 499
	render := func(ctx context.Context, path string) (string, error) {
		if err := firn.SetLoadTags(ctx, "product:42", "category:7"); err != nil {
			return "", err
		}
		return fmt.Sprintf("skis for %d", price), nil
	}
	show := func() {
		page, err := pages.GetOrLoad(context.Background(), "/products/42", render)
		fmt.Println(page, err)
	}
	show()
	price = 399 // first the source,
	show()
	if err := pages.InvalidateTag("product:42"); err != nil { // then the tag
		log.Fatal(err)
	}
	show()
	// Output:
	// skis for 499 <nil>
	// skis for 499 <nil>
	// skis for 399 <nil>
}

func ExampleTyped_SetWith() {
	c := mustOpen(firn.Options{RAMBytes: 1 << 20})
	defer c.Close()
	names, err := firn.NewTyped(c, "names", firn.TypedOptions[int, string]{})
	if err != nil {
		log.Fatal(err)
	}
	for id, name := range map[int]string{1: "Ada", 2: "Grace"} {
		if err := names.SetWith(id, name, firn.SetOptions{Tags: []string{"tenant:acme"}}); err != nil {
			log.Fatal(err)
		}
	}
	names.Set(3, "Edsger")
	if err := names.InvalidateTag("tenant:acme"); err != nil {
		log.Fatal(err)
	}
	fmt.Println(names.Has(1), names.Has(2), names.Has(3))
	// Output: false false true
}
