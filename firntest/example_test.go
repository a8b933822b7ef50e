package firntest_test

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/firntest"
)

// example stands for the *testing.T that a test has.
type example struct{ cleanups []func() }

func (*example) Helper()                           {}
func (*example) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (e *example) Cleanup(f func())                { e.cleanups = append(e.cleanups, f) }

func (e *example) end() {
	for _, f := range e.cleanups {
		f()
	}
}

var alice = []byte("alice")

func ExampleClock() {
	t := new(example)
	defer t.end()
	c := firntest.New(t, firntest.Options(func(o *firn.Options) { o.TTL = time.Hour }))
	_ = c.Set(alice, []byte("admin"))
	c.Clock.Advance(59 * time.Minute)
	fmt.Println(c.Has(alice))
	c.Clock.Advance(time.Minute)
	fmt.Println(c.Has(alice))
	// Output:
	// true
	// false
}

func ExampleCache_Evict() {
	t := new(example)
	defer t.end()
	c := firntest.New(t, firntest.Options(func(o *firn.Options) {
		o.OnEvict = func(key, _ []byte, cause firn.Cause) { fmt.Printf("%s: %v\n", key, cause) }
	}))
	_ = c.Set(alice, []byte("admin"))
	c.Evict(alice)
	load := func(context.Context, []byte) ([]byte, error) { return []byte("loaded"), nil }
	v, err := c.GetOrLoad(context.Background(), nil, alice, load)
	fmt.Printf("%s %v\n", v, err)
	// Output:
	// alice: capacity
	// loaded <nil>
}

// The cache does not fail where its disk does: a read is a miss, of which Lookup says why.
func ExampleDisk_Fail() {
	t := new(example)
	defer t.end()
	c := firntest.New(t, firntest.SSD())
	_ = c.Set(alice, []byte("admin"))
	c.Demote(alice)
	c.Disk.Fail(firntest.Reads, syscall.EIO)
	_, ok := c.Get(nil, alice)
	_, err := c.Lookup(context.Background(), nil, alice)
	fmt.Println(ok, errors.Is(err, syscall.EIO))
	// Output: false true
}

func ExampleDisk_Stall() {
	t := new(example)
	defer t.end()
	c := firntest.New(t, firntest.SSD())
	_ = c.Set(alice, []byte("admin"))
	c.Demote(alice)
	await := c.Disk.Stall(firntest.Reads)
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		await(1) // it is asked for alice
		cancel()
	}()
	_, err := c.Lookup(ctx, nil, alice)
	fmt.Println(err)
	c.Disk.Heal()
	v, _ := c.Get(nil, alice)
	fmt.Printf("%s\n", v)
	// Output:
	// context canceled
	// admin
}

// A program that is started again finds what it had.
func ExampleOnDisk() {
	t := new(example)
	defer t.end()
	disk := firntest.NewDisk()
	c := firntest.New(t, firntest.OnDisk(disk))
	_ = c.Set(alice, []byte("admin"))
	_ = c.Close()
	c = firntest.New(t, firntest.OnDisk(disk))
	v, _ := c.Get(nil, alice)
	fmt.Printf("%s\n", v)
	// Output: admin
}

// A value that is too large, and a loader that fails, need nothing forced.
func ExampleNew() {
	t := new(example)
	defer t.end()
	c := firntest.New(t)
	fmt.Println(errors.Is(c.Set(alice, make([]byte, 1<<20)), firn.ErrTooLarge))
	fail := func(context.Context, []byte) ([]byte, error) { return nil, errors.New("source is down") }
	_, err := c.GetOrLoad(context.Background(), nil, alice, fail)
	fmt.Println(err)
	// Output:
	// true
	// source is down
}
