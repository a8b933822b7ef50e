package msgpack_test

import (
	"fmt"
	"log"

	"github.com/firncache/firn"
	"github.com/firncache/firn/codec/msgpack"
)

func ExampleNew() {
	cache, err := firn.Open(firn.Options{RAMBytes: 1 << 20})
	if err != nil {
		log.Fatal(err)
	}
	defer cache.Close()

	type Event struct {
		Name   string
		Fields map[string]any // what firn's own codec refuses
	}
	events, err := firn.NewTyped(cache, "events", firn.TypedOptions[int, Event]{Codec: msgpack.New[Event]()})
	if err != nil {
		log.Fatal(err)
	}
	if err := events.Set(7, Event{"login", map[string]any{"user": "Ada"}}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(events.Get(7))
	// Output: {login map[user:Ada]} true
}
