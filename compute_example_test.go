package firn_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/firncache/firn"
)

// The largest value that was seen.
func ExampleCache_Compute() {
	c := newCache(firn.Options{RAMBytes: 1 << 20})
	defer c.Close()

	observe := func(key string, n uint64) error {
		return c.Compute(context.Background(), []byte(key), func(old []byte, ok bool) ([]byte, firn.Op) {
			if ok && binary.BigEndian.Uint64(old) >= n {
				return nil, firn.OpKeep
			}
			return binary.BigEndian.AppendUint64(old[:0], n), firn.OpSet
		})
	}
	for _, n := range []uint64{3, 8, 5} {
		if err := observe("latency", n); err != nil {
			log.Fatal(err)
		}
	}
	v, _ := c.Get(nil, []byte("latency"))
	fmt.Println(binary.BigEndian.Uint64(v))
	// Output: 8
}

// A list that grows: old has room behind it, and is the function's to append to. Its
// deadline stays that of the first line.
func ExampleCache_Compute_append() {
	c := newCache(firn.Options{RAMBytes: 1 << 20})
	defer c.Close()

	add := func(key, line string) error {
		return c.Compute(context.Background(), []byte(key), func(old []byte, ok bool) ([]byte, firn.Op) {
			if !ok {
				return append(old, line...), firn.OpSetTTL(time.Minute)
			}
			return append(append(old, '\n'), line...), firn.OpUpdate
		})
	}
	for _, line := range []string{"snow", "firn", "ice"} {
		if err := add("layers", line); err != nil {
			log.Fatal(err)
		}
	}
	v, _ := c.Get(nil, []byte("layers"))
	fmt.Printf("%q\n", v)
	// Output: "snow\nfirn\nice"
}

// At most three requests a minute: the counter, and with it the minute, begins with the
// first.
func ExampleCache_Increment() {
	c := newCache(firn.Options{RAMBytes: 1 << 20, TTL: time.Minute})
	defer c.Close()

	allowed := func(user string) bool {
		n, err := c.Increment(context.Background(), []byte("requests of "+user), 1)
		return err == nil && n <= 3
	}
	for range 4 {
		fmt.Println(allowed("ada"))
	}
	fmt.Println(allowed("bob"))
	// Output:
	// true
	// true
	// true
	// false
	// true
}

// A lock that is given up by itself after ten seconds, in a cache of which nothing is
// evicted. Only its owner releases it: its token tells.
func ExampleCache_SetIfAbsent() {
	c := newCache(firn.Options{RAMBytes: 1 << 20, TTL: 10 * time.Second})
	defer c.Close()
	ctx := context.Background()

	lock := func(name, token string) (bool, error) { return c.SetIfAbsent(ctx, []byte(name), []byte(token)) }
	release := func(name, token string) (released bool, err error) {
		err = c.Compute(ctx, []byte(name), func(old []byte, ok bool) ([]byte, firn.Op) {
			if released = ok && bytes.Equal(old, []byte(token)); released {
				return nil, firn.OpDelete
			}
			return nil, firn.OpKeep
		})
		return released && err == nil, err
	}
	fmt.Println(lock("report", "ada"))
	fmt.Println(lock("report", "bob"))
	fmt.Println(release("report", "bob"))
	fmt.Println(release("report", "ada"))
	fmt.Println(lock("report", "bob"))
	// Output:
	// true <nil>
	// false <nil>
	// false <nil>
	// true <nil>
	// true <nil>
}

func ExampleCache_CompareAndSwap() {
	c := newCache(firn.Options{RAMBytes: 1 << 20})
	defer c.Close()
	ctx, key := context.Background(), []byte("state")
	c.Set(key, []byte("queued"))
	fmt.Println(c.CompareAndSwap(ctx, key, []byte("queued"), []byte("running")))
	fmt.Println(c.CompareAndSwap(ctx, key, []byte("queued"), []byte("running")))
	// Output:
	// true <nil>
	// false <nil>
}

// A token that is good once.
func ExampleCache_GetAndDelete() {
	c := newCache(firn.Options{RAMBytes: 1 << 20})
	defer c.Close()
	ctx, key := context.Background(), []byte("reset token 7f3a")
	c.Set(key, []byte("ada"))
	user, err := c.GetAndDelete(ctx, nil, key)
	fmt.Printf("%s %v\n", user, err)
	_, err = c.GetAndDelete(ctx, nil, key)
	fmt.Println(errors.Is(err, firn.ErrNotFound))
	// Output:
	// ada <nil>
	// true
}

func ExampleTyped_Compute() {
	c := newCache(firn.Options{RAMBytes: 1 << 20})
	defer c.Close()
	carts, err := firn.NewTyped(c, "carts", firn.TypedOptions[string, map[string]int]{})
	if err != nil {
		log.Fatal(err)
	}
	add := func(user, article string, n int) (map[string]int, error) {
		cart, _, err := carts.Compute(context.Background(), user, func(cart map[string]int, _ bool) (map[string]int, firn.Op) {
			if cart == nil {
				cart = map[string]int{}
			}
			if cart[article] += n; cart[article] <= 0 {
				delete(cart, article)
			}
			if len(cart) == 0 {
				return nil, firn.OpDelete
			}
			return cart, firn.OpSetTTL(time.Hour)
		})
		return cart, err
	}
	fmt.Println(add("ada", "skis", 2))
	fmt.Println(add("ada", "wax", 1))
	fmt.Println(add("ada", "skis", -2))
	fmt.Println(add("ada", "wax", -1))
	// Output:
	// map[skis:2] <nil>
	// map[skis:2 wax:1] <nil>
	// map[wax:1] <nil>
	// map[] <nil>
}

func ExampleIncrement() {
	c := newCache(firn.Options{RAMBytes: 1 << 20})
	defer c.Close()
	views, err := firn.NewTyped(c, "views", firn.TypedOptions[string, uint32]{})
	if err != nil {
		log.Fatal(err)
	}
	for range 3 {
		if _, err := firn.Increment(context.Background(), views, "/index.html", 1); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(views.Get("/index.html"))
	// Output: 3 true
}

func newCache(opts firn.Options) *firn.Cache {
	c, err := firn.Open(opts)
	if err != nil {
		log.Fatal(err)
	}
	return c
}
