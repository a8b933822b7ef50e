package remote_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/remote"
)

// A tier is one field of a cache's options; all else is as without.
func ExampleOpen() {
	shared, err := remote.Open(remote.Options{
		Addrs:     []string{"redis:6379"},
		Namespace: "shop.prices",
		Password:  os.Getenv("REDIS_PASSWORD"),
		Staleness: time.Second,
	})
	if err != nil {
		log.Fatal(err) // an option that makes no sense
	}
	cache, err := firn.Open(firn.Options{RAMBytes: 256 << 20, TTL: time.Hour, Shared: shared})
	if err != nil {
		log.Fatal(err) // a wrong password, say; not a server that is away
	}
	defer cache.Close() // closes the tier
	if err := cache.Set([]byte("tea"), []byte("300")); errors.Is(err, firn.ErrSharedUnavailable) {
		log.Print("the server is away: nobody knows whether it has the price")
	}
}

// One call may use the tiers in a way of its own.
func ExampleWith() {
	cache, err := firn.Open(firn.Options{RAMBytes: 1 << 20})
	if err != nil {
		log.Fatal(err)
	}
	defer cache.Close()
	latest := remote.With(context.Background(), remote.Call{SkipLocal: true})
	_, err = cache.Lookup(latest, nil, []byte("balance"))
	fmt.Println(err)
	old := remote.With(context.Background(), remote.Call{Degraded: remote.DegradedStale, HasDegraded: true})
	_, err = cache.Lookup(old, nil, []byte("thumbnail"))
	fmt.Println(err == firn.ErrNotFound)
	// Output:
	// firn: not found
	// true
}
