// Command demo serves a page about two caches in use: go run ./live/internal/demo [address].
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math/rand/v2"
	"net/http"
	"os"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/live"
)

func main() {
	address := "127.0.0.1:8080"
	if len(os.Args) > 1 {
		address = os.Args[1]
	}
	dir, err := os.MkdirTemp("", "firn-demo")
	must(err)
	users, err := firn.Open(firn.Options{RAMBytes: 32 << 20, TTL: time.Minute})
	must(err)
	pictures, err := firn.Open(firn.Options{RAMBytes: 16 << 20, SSD: firn.SSDOptions{Dir: dir, Bytes: 256 << 20}})
	must(err)
	for _, c := range []*firn.Cache{users, pictures} {
		for range 2 {
			go use(c)
		}
	}
	fmt.Printf("http://%s/debug/firn/\n", address)
	http.Handle("/debug/firn/", live.New(live.Options{Caches: []live.Named{{Name: "users", Cache: users}, {Name: "pictures", Cache: pictures}}}))
	log.Fatal(http.ListenAndServe(address, nil))
}

// use loads keys, the lower ones more often than the others.
func use(c *firn.Cache) {
	zipf := rand.NewZipf(rand.New(rand.NewPCG(1, rand.Uint64())), 1.05, 8, 1<<20)
	for i := 0; ; i++ {
		key := fmt.Appendf(nil, "user:%d", zipf.Uint64())
		_, _ = c.GetOrLoad(context.Background(), nil, key, func(context.Context, []byte) ([]byte, error) {
			time.Sleep(time.Duration(rand.IntN(400)) * time.Microsecond)
			if rand.IntN(1000) == 0 {
				return nil, errors.New("the source is away")
			}
			return make([]byte, 200+rand.IntN(2000)), nil
		})
		if i%20 == 0 {
			time.Sleep(2 * time.Millisecond)
		}
	}
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
