package firn_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/firncache/firn"
)

// A session lives for half an hour from each request on, and for a minute once its
// user has logged out.
func ExampleCache_Touch() {
	now := time.Unix(0, 0)
	c := cacheWith(firn.Options{RAMBytes: 1 << 20, Clock: func() time.Time { return now }})
	defer c.Close()
	ctx, session := context.Background(), []byte("session 42")
	c.SetWithTTL(session, []byte("alice"), 30*time.Minute)

	now = now.Add(20 * time.Minute)
	fmt.Println(c.Touch(ctx, session, 30*time.Minute)) // a request
	now = now.Add(20 * time.Minute)
	fmt.Println(c.TTL(session))
	fmt.Println(c.Touch(ctx, session, time.Minute)) // logged out
	now = now.Add(time.Minute)
	fmt.Println(c.Touch(ctx, session, 30*time.Minute)) // too late
	// Output:
	// true <nil>
	// 10m0s true
	// true <nil>
	// false <nil>
}

// What nobody reads for ten minutes goes; what is read stays.
func ExampleOptions_expireAfterAccess() {
	now := time.Unix(0, 0)
	c := cacheWith(firn.Options{RAMBytes: 1 << 20, ExpireAfterAccess: 10 * time.Minute, Clock: func() time.Time { return now }})
	defer c.Close()
	c.Set([]byte("read"), []byte("a"))
	c.Set([]byte("left alone"), []byte("b"))
	for range 5 {
		now = now.Add(8 * time.Minute)
		c.Get(nil, []byte("read"))
	}
	fmt.Println(c.Has([]byte("read")), c.Has([]byte("left alone")))
	// Output: true false
}

func ExampleCache_LookupEntry() {
	now := time.Unix(0, 0)
	c := cacheWith(firn.Options{RAMBytes: 1 << 20, TTL: time.Minute, Clock: func() time.Time { return now }})
	defer c.Close()
	c.Set([]byte("page"), []byte("<html>"))
	now = now.Add(20 * time.Second)
	e, err := c.LookupEntry(context.Background(), nil, []byte("page"))
	fmt.Println(string(e.Value), e.TTL, e.Tier, err)
	// Output: <html> 40s RAM <nil>
}

func ExampleTyped_LookupEntry() {
	c := cacheWith(firn.Options{RAMBytes: 1 << 20})
	defer c.Close()
	users, err := firn.NewTyped(c, "users", firn.TypedOptions[int, string]{})
	if err != nil {
		fmt.Println(err)
		return
	}
	users.Set(42, "alice")
	e, err := users.LookupEntry(context.Background(), 42)
	fmt.Println(e.Value, e.TTL == firn.Forever, e.Tier, err)
	// Output: alice true RAM <nil>
}

func cacheWith(opts firn.Options) *firn.Cache {
	c, err := firn.Open(opts)
	if err != nil {
		log.Fatal(err)
	}
	return c
}
