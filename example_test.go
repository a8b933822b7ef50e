package firn_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"sync"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/stats"
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

	c.SetWithTTL([]byte("motto"), []byte("sapere aude"), firn.Forever)
	ttl, ok := c.TTL([]byte("motto"))
	fmt.Println(ttl == firn.Forever, ok)
	// Output:
	// 20s true
	// false
	// true true
}

func ExampleCache_GetMulti() {
	c := mustOpen(firn.Options{RAMBytes: 1 << 20})
	defer c.Close()
	keys := [][]byte{[]byte("a"), []byte("b"), []byte("c")}
	values := [][]byte{[]byte("1"), []byte("2"), []byte("3")}
	if err := c.SetMulti(context.Background(), keys, values); err != nil {
		log.Fatal(err)
	}
	c.Delete([]byte("b"))

	var batch firn.Batch // to be used again and again
	c.GetMulti(context.Background(), &batch, keys)
	for i, key := range keys {
		if v, ok := batch.Value(i); ok {
			fmt.Printf("%s=%s ", key, v)
		} else {
			fmt.Printf("%s is not there ", key)
		}
	}
	// Output: a=1 b is not there c=3
}

// What leaves RAM goes to files, and is there again after Close and Open.
func ExampleSSDOptions() {
	dir, err := os.MkdirTemp("", "firn-*")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	opts := firn.Options{
		RAMBytes: 1 << 20,
		SSD:      firn.SSDOptions{Dir: dir, Bytes: 16 << 20},
	}

	c := mustOpen(opts)
	if err := c.Set([]byte("glacier"), []byte("ice")); err != nil {
		log.Fatal(err)
	}
	if err := c.Close(); err != nil { // saves what RAM holds, too
		log.Fatal(err)
	}

	c = mustOpen(opts)
	defer c.Close()
	value, ok := c.Get(nil, []byte("glacier"))
	fmt.Printf("%s %v\n", value, ok)
	// Output: ice true
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
	fmt.Println(st.RAM.Bytes, st.RAM.UsedBytes <= 4<<20, st.Entries > 3000)
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
	for _, m := range stats.Metrics()[:3] { // every field, declared as data
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

// A request needs several values, some of which are cached. The rest is fetched
// in one query, which ends early if the request does.
func ExampleCache_GetOrLoadMulti() {
	c := mustOpen(firn.Options{RAMBytes: 1 << 20})
	defer c.Close()
	c.Set([]byte("ann"), []byte("Ann Lee"))
	query := func(ctx context.Context, keys [][]byte) ([][]byte, error) {
		names := map[string]string{"bob": "Bob Ray"} // SELECT ... WHERE id IN (...)
		values := make([][]byte, len(keys))
		for i, key := range keys {
			if name, ok := names[string(key)]; ok {
				values[i] = []byte(name)
			}
		}
		fmt.Printf("asked for %s\n", keys)
		return values, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	var b firn.Batch
	keys := [][]byte{[]byte("ann"), []byte("bob"), []byte("eve")}
	if err := c.GetOrLoadMulti(ctx, &b, keys, query); err != nil {
		log.Fatal(err)
	}
	for i, key := range keys {
		name, ok := b.Value(i)
		fmt.Printf("%s: %s %v\n", key, name, ok)
	}
	// Output:
	// asked for [bob eve]
	// ann: Ann Lee true
	// bob: Bob Ray true
	// eve:  false
}

// A fan-out: each part is loaded by a goroutine of its own, and the first error
// ends the others through the context.
func ExampleCache_GetOrLoad_fanOut() {
	c := mustOpen(firn.Options{RAMBytes: 1 << 20})
	defer c.Close()
	load := func(ctx context.Context, key []byte) ([]byte, error) {
		if string(key) == "prices" {
			return nil, errors.New("prices are down")
		}
		select {
		case <-time.After(time.Hour): // a slow service
			return []byte("..."), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	var wg sync.WaitGroup
	for _, part := range []string{"news", "prices", "weather"} {
		wg.Go(func() {
			if _, err := c.GetOrLoad(ctx, nil, []byte(part), load); err != nil {
				cancel(err) // the first one counts
			}
		})
	}
	wg.Wait()
	fmt.Println(context.Cause(ctx))
	// Output: prices are down
}

// A cache in front of a source that may be slow or down.
func ExampleLoadingOptions() {
	c := mustOpen(firn.Options{
		RAMBytes: 1 << 20,
		TTL:      10 * time.Minute,
		Loading: firn.LoadingOptions{
			TTLJitter:            0.1,              // values stored together do not expire together
			RefreshAfter:         8 * time.Minute,  // what is read is loaded anew before it expires
			StaleWhileRevalidate: 5 * time.Minute,  // and still returned at once soon after
			StaleIfError:         24 * time.Hour,   // better old than nothing, if the source is down
			SoftTimeout:          time.Second,      // or slow
			HardTimeout:          30 * time.Second, // no load takes longer
			NegativeTTL:          30 * time.Second, // what the source does not have is not asked for again
			MaxLoads:             64,
		},
	})
	defer c.Close()
	load := func(ctx context.Context, key []byte) ([]byte, error) {
		fmt.Printf("asked for %s\n", key)
		return nil, firn.ErrNotFound
	}
	for range 2 {
		_, err := c.GetOrLoad(context.Background(), nil, []byte("eve"), load)
		fmt.Println(err)
	}
	// Output:
	// asked for eve
	// firn: not found
	// firn: not found
}

// A loader knows how long its value holds, or that it must not be kept.
func ExampleSetLoadTTL() {
	c := mustOpen(firn.Options{RAMBytes: 1 << 20, TTL: time.Hour})
	defer c.Close()
	load := func(ctx context.Context, key []byte) ([]byte, error) {
		maxAge, private := 90*time.Second, string(key) == "account" // from the answer's headers
		if private {
			return []byte("secret"), firn.SetLoadTTL(ctx, 0)
		}
		return []byte("page"), firn.SetLoadTTL(ctx, maxAge)
	}
	for _, key := range []string{"home", "account"} {
		if _, err := c.GetOrLoad(context.Background(), nil, []byte(key), load); err != nil {
			log.Fatal(err)
		}
		ttl, ok := c.TTL([]byte(key))
		fmt.Println(key, ttl.Round(time.Second), ok)
	}
	// Output:
	// home 1m30s true
	// account 0s false
}

// After a change in the source, the value is loaded anew; readers see the old one
// until the new one is there.
func ExampleCache_Refresh() {
	c := mustOpen(firn.Options{RAMBytes: 1 << 20})
	defer c.Close()
	c.Set([]byte("key"), []byte("old"))
	value, err := c.Refresh(context.Background(), nil, []byte("key"), func(context.Context, []byte) ([]byte, error) {
		return []byte("new"), nil
	})
	stored, _ := c.Get(nil, []byte("key"))
	fmt.Println(string(value), err, string(stored))
	// Output: new <nil> new
}

// A bulk loader gives each value its own time to live.
func ExampleForKey() {
	c := mustOpen(firn.Options{RAMBytes: 1 << 20, TTL: time.Hour})
	defer c.Close()
	keys := [][]byte{[]byte("home"), []byte("weather")}
	var b firn.Batch
	err := c.GetOrLoadMulti(context.Background(), &b, keys, func(ctx context.Context, keys [][]byte) ([][]byte, error) {
		values := make([][]byte, len(keys))
		for i, key := range keys {
			values[i] = append([]byte("page "), key...)
			if string(key) == "weather" { // in a program: what the source says of each
				if err := firn.SetLoadTTL(firn.ForKey(ctx, i), time.Minute); err != nil {
					return nil, err
				}
			}
		}
		return values, nil
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, key := range keys {
		ttl, _ := c.TTL(key)
		fmt.Println(string(key), ttl.Round(time.Second))
	}
	// Output:
	// home 1h0m0s
	// weather 1m0s
}
