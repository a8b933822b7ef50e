package main

import (
	"testing"

	"github.com/firncache/firn"
	"github.com/firncache/firn/examples/protobuf/catalogpb"
	"google.golang.org/protobuf/proto"
)

func Example() {
	main()
	// Output:
	// snow shovel: 2490 cents, [winter garden]
	// no product s2
}

// A message comes back equal, and as one of the caller's own.
func TestProducts(t *testing.T) {
	c, err := firn.Open(firn.Options{RAMBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	products, err := NewProducts(c)
	if err != nil {
		t.Fatal(err)
	}
	want := &catalogpb.Product{Id: "a", Name: "axe", PriceCents: 1, Tags: []string{"ice"}}
	if err := products.Set("a", want); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		got, ok := products.Get("a")
		if !ok || !proto.Equal(got, want) {
			t.Fatalf("%v, %v: want %v", got, ok, want)
		}
		got.Tags[0] = "changed" // a copy: the next Get does not see it
	}
}
