// Command protobuf keeps messages of Protocol Buffers in a typed cache: the
// program handles *catalogpb.Product, the cache holds their bytes.
package main

import (
	"fmt"
	"log"

	"github.com/firncache/firn"
	"github.com/firncache/firn/codec/protobuf"
	"github.com/firncache/firn/examples/protobuf/catalogpb"
)

//go:generate protoc -I catalogpb --go_out=catalogpb --go_opt=paths=source_relative catalog.proto

// Products caches products by their ID.
type Products = firn.Typed[string, *catalogpb.Product]

// NewProducts keeps products in a cache that others may use as well.
func NewProducts(c *firn.Cache) (*Products, error) {
	return firn.NewTyped(c, "products", firn.TypedOptions[string, *catalogpb.Product]{
		Codec: protobuf.New[catalogpb.Product](),
	})
}

func run() error {
	c, err := firn.Open(firn.Options{RAMBytes: 16 << 20})
	if err != nil {
		return err
	}
	defer c.Close()
	products, err := NewProducts(c)
	if err != nil {
		return err
	}
	shovel := &catalogpb.Product{Id: "s1", Name: "snow shovel", PriceCents: 2490, Tags: []string{"winter", "garden"}}
	if err := products.Set(shovel.Id, shovel); err != nil {
		return err
	}
	if p, ok := products.Get("s1"); ok {
		fmt.Printf("%s: %d cents, %v\n", p.Name, p.PriceCents, p.Tags)
	}
	if _, ok := products.Get("s2"); !ok {
		fmt.Println("no product s2")
	}
	return nil
}

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}
