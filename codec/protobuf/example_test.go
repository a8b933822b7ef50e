package protobuf_test

import (
	"fmt"
	"log"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/firncache/firn"
	"github.com/firncache/firn/codec/protobuf"
)

func ExampleNew() {
	cache, err := firn.Open(firn.Options{RAMBytes: 1 << 20})
	if err != nil {
		log.Fatal(err)
	}
	defer cache.Close()

	delays, err := firn.NewTyped(cache, "delays", firn.TypedOptions[string, *durationpb.Duration]{
		Codec: protobuf.New[durationpb.Duration](), // of any generated message
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := delays.Set("ICE 71", durationpb.New(7*time.Minute)); err != nil {
		log.Fatal(err)
	}
	delay, ok := delays.Get("ICE 71")
	fmt.Println(delay.AsDuration(), ok)
	// Output: 7m0s true
}
