package firn_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/firncache/firn"
)

func Example() {
	c, err := firn.Open(firn.Options{RAMBytes: 64 << 20})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()

	if err := c.Set([]byte("glacier"), []byte("ice")); err != nil {
		log.Fatal(err)
	}
	buf := make([]byte, 0, 64)
	value, ok := c.Get(buf, []byte("glacier"))
	fmt.Printf("%s %v\n", value, ok)
	_, ok = c.Get(buf, []byte("desert"))
	fmt.Println(ok)
	// Output:
	// ice true
	// false
}

func ExampleOpen() {
	_, err := firn.Open(firn.Options{RAMBytes: 1000})
	fmt.Println(err)
	// Output: firn: Options.RAMBytes is 1000: want at least 65536 bytes
}

// Get appends, so one buffer can serve many reads, or gather many values.
func ExampleCache_Get() {
	c := mustOpen(firn.Options{RAMBytes: 1 << 20})
	defer c.Close()
	c.Set([]byte("first"), []byte("snow"))
	c.Set([]byte("second"), []byte(""))

	line := []byte("on the ground: ")
	line, ok := c.Get(line, []byte("first"))
	fmt.Printf("%s, %v\n", line, ok)
	line, ok = c.Get(line[:0], []byte("second")) // an empty value is a value
	fmt.Printf("%q, %v\n", line, ok)
	// Output:
	// on the ground: snow, true
	// "", true
}

func ExampleCache_Lookup() {
	c := mustOpen(firn.Options{RAMBytes: 1 << 20})
	ctx := context.Background()
	_, err := c.Lookup(ctx, nil, []byte("key"))
	fmt.Println(errors.Is(err, firn.ErrNotFound))
	c.Close()
	_, err = c.Lookup(ctx, nil, []byte("key"))
	fmt.Println(errors.Is(err, firn.ErrClosed))
	// Output:
	// true
	// true
}

func ExampleCache_Set() {
	c := mustOpen(firn.Options{RAMBytes: 1 << 20})
	defer c.Close()
	err := c.Set([]byte("key"), make([]byte, 300_000))
	fmt.Println(errors.Is(err, firn.ErrTooLarge))
	fmt.Println(err)
	// Output:
	// true
	// firn: too large: key of 3 bytes and value of 300000 bytes: want at most 262144 bytes together
}

func ExampleCache_SetWithTTL() {
	now := time.Unix(0, 0)
	c := mustOpen(firn.Options{RAMBytes: 1 << 20, Clock: func() time.Time { return now }})
	defer c.Close()

	c.SetWithTTL([]byte("session"), []byte("alice"), 30*time.Second)
	now = now.Add(10 * time.Second)
	fmt.Println(c.TTL([]byte("session")))
	now = now.Add(20 * time.Second)
	fmt.Println(c.Has([]byte("session")))
	// Output:
	// 20s true
	// false
}

func ExampleCache_GetMulti() {
	c := mustOpen(firn.Options{RAMBytes: 1 << 20})
	defer c.Close()
	keys := [][]byte{[]byte("a"), []byte("b"), []byte("c")}
	values := [][]byte{[]byte("1"), []byte("2"), []byte("3")}
	if err := c.SetMulti(keys, values); err != nil {
		log.Fatal(err)
	}
	c.Delete([]byte("b"))

	var batch firn.Batch // to be used again and again
	c.GetMulti(&batch, keys)
	for i, key := range keys {
		if v, ok := batch.Value(i); ok {
			fmt.Printf("%s=%s ", key, v)
		} else {
			fmt.Printf("%s is not there ", key)
		}
	}
	// Output: a=1 b is not there c=3
}

func ExampleCache_GetOrLoad() {
	c := mustOpen(firn.Options{RAMBytes: 1 << 20, TTL: time.Minute})
	defer c.Close()
	loads := 0
	load := func(_ context.Context, key []byte) ([]byte, error) {
		loads++ // here the database would be asked
		return append([]byte("row of "), key...), nil
	}
	for range 3 {
		v, err := c.GetOrLoad(context.Background(), nil, []byte("user 7"), load)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s; ", v)
	}
	fmt.Println("loads:", loads)
	// Output: row of user 7; row of user 7; row of user 7; loads: 1
}

func ExampleOptions_onEvict() {
	c := mustOpen(firn.Options{
		RAMBytes: 1 << 20,
		OnEvict: func(key, value []byte, cause firn.Cause) {
			fmt.Printf("%s=%s: %v\n", key, value, cause)
		},
	})
	defer c.Close()
	c.Set([]byte("key"), []byte("old"))
	c.Set([]byte("key"), []byte("new"))
	c.Delete([]byte("key"))
	// Output:
	// key=old: replaced
	// key=new: deleted
}

func ExampleCache_All() {
	c := mustOpen(firn.Options{RAMBytes: 1 << 20})
	defer c.Close()
	for i := range 4 {
		c.Set(fmt.Append(nil, i), make([]byte, 1000*i))
	}
	bytes := 0
	for _, value := range c.All() { // in no order; the slices are lent
		bytes += len(value)
	}
	fmt.Println(c.Len(), bytes)
	// Output: 4 6000
}

func ExampleCache_SetRAMBytes() {
	c := mustOpen(firn.Options{RAMBytes: 16 << 20})
	defer c.Close()
	value := make([]byte, 1000)
	for i := range 10_000 {
		c.Set(fmt.Append(nil, i), value)
	}
	if err := c.SetRAMBytes(4 << 20); err != nil {
		log.Fatal(err)
	}
	st := c.Stats()
	fmt.Println(st.RAMBytes, st.RAMUsedBytes <= 4<<20, st.Entries > 3000)
	// Output: 4194304 true true
}

func ExampleCache_Stats() {
	c := mustOpen(firn.Options{RAMBytes: 1 << 20})
	defer c.Close()
	c.Set([]byte("key"), []byte("value"))
	c.Get(nil, []byte("key"))
	c.Get(nil, []byte("other"))
	st := c.Stats()
	fmt.Println(st.Entries, st.HitRatio())
	for _, m := range firn.Metrics[:3] { // every field, declared as data
		fmt.Println(m.Name, m.Value(&st))
	}
	// Output:
	// 1 0.5
	// hits 1
	// misses 1
	// sets 1
}

func mustOpen(opts firn.Options) *firn.Cache {
	c, err := firn.Open(opts)
	if err != nil {
		log.Fatal(err)
	}
	return c
}
