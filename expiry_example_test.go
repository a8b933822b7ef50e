package firn_test

import (
	"context"
	"errors"
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

// Sessions and pages share a cache, each with its own policy: a session lives for 20 minutes from its
// last read, and for 8 hours at most; a page whose source is down is answered for a day.
func ExampleTypedOptions_policies() {
	now := time.Unix(0, 0)
	c := cacheWith(firn.Options{RAMBytes: 1 << 20, Clock: func() time.Time { return now }})
	defer c.Close()
	sessions, err := firn.NewTyped(c, "sessions", firn.TypedOptions[string, string]{
		ExpireAfterAccess: 20 * time.Minute, TTL: 8 * time.Hour,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	pages, err := firn.NewTyped(c, "pages", firn.TypedOptions[string, string]{
		TTL: time.Minute, Loading: firn.LoadingOptions{StaleIfError: 24 * time.Hour},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	sessions.Set("42", "alice")
	pages.Set("/", "<html>")
	for hour := 0.25; hour < 8.5; hour += 0.25 {
		now = now.Add(15 * time.Minute)
		if _, ok := sessions.Get("42"); !ok {
			fmt.Println("no session after", hour, "hours")
		}
	}
	page, err := pages.GetOrLoad(context.Background(), "/", func(context.Context, string) (string, error) {
		return "", errors.New("the source is down")
	})
	fmt.Println(page, err)
	// Output:
	// no session after 8.25 hours
	// <html> <nil>
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
