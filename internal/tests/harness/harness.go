// Package harness opens caches for the tests of packages beside it, which use what firn
// exports: over files in memory, with ways to look inside.
package harness

import (
	"context"
	"log/slog"
	"runtime"
	"testing"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/invariants"
	"github.com/firncache/firn/internal/testseam"
)

// The log lines of faults that tests make are discarded.
func init() { slog.SetDefault(slog.New(slog.DiscardHandler)) }

// CheckInvariants compares everything inside the cache with everything else. The cache must
// not be in use meanwhile.
func CheckInvariants(c *firn.Cache) error { return testseam.Store(c).RAM.Check() }

// Sweep takes expired entries out now.
func Sweep(c *firn.Cache) { testseam.Store(c).RAM.Sweep() }

// Watched reports whether any key is watched for writes.
func Watched(c *firn.Cache) bool { return testseam.Store(c).RAM.Watched() }

// Namespaces is how many are in use.
func Namespaces(c *firn.Cache) int { return testseam.Namespaces(c) }

// AwaitNamespaces collects garbage until so many namespaces are in use.
func AwaitNamespaces(c *firn.Cache, n int) {
	for Namespaces(c) > n {
		runtime.GC()
		runtime.Gosched()
	}
}

// HoldLoads locks the list of loads until the function that it returns is called.
func HoldLoads(c *firn.Cache) (release func()) { return testseam.Loads(c).Hold() }

// HoldLoadShard locks one shard of the list of loads until release is called;
// LoadShard is that of a key.
func HoldLoadShard(c *firn.Cache, n int) (release func()) { return testseam.Loads(c).HoldShard(n) }

// LoadShard is the shard of a key.
func LoadShard(c *firn.Cache, key []byte) int { return testseam.Loads(c).ShardOf(key) }

// WriteUndetached makes the load of key one whose key was written, as a writer does
// that has not come to forget it yet.
func WriteUndetached(c *firn.Cache, key []byte) { testseam.Loads(c).VoidWatch(key) }

// SkipUnderRace skips a test of one goroutine with much to copy, which the race detector does
// by words. Its subject has a test with several goroutines.
func SkipUnderRace(t *testing.T) {
	t.Helper()
	if invariants.Race {
		t.Skip("too many requests for the race detector")
	}
}

// Open opens a cache, which is checked and closed when the test ends.
func Open(t testing.TB, opts firn.Options) *firn.Cache {
	t.Helper()
	c, err := firn.Open(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := CheckInvariants(c); err != nil {
			t.Error(err)
		}
		c.Close()
	})
	return c
}

// Set stores a value, or fails the test.
func Set(t testing.TB, c *firn.Cache, key, value []byte) {
	t.Helper()
	if err := c.Set(key, value); err != nil {
		t.Fatalf("key of %d bytes, value of %d: %v", len(key), len(value), err)
	}
}

// OpenSmall opens a cache of 1 MiB, which is closed when the test ends.
func OpenSmall(t testing.TB, change ...func(*firn.Options)) *firn.Cache {
	t.Helper()
	opts := firn.Options{RAMBytes: 1 << 20}
	for _, f := range change {
		f(&opts)
	}
	c, err := firn.Open(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// Must fails the test for an error.
func Must(t testing.TB, err error) {
	if err != nil {
		t.Helper()
		t.Fatal(err)
	}
}

// Value is a loader that returns v at once.
func Value(v string) firn.LoadFunc {
	return func(context.Context, []byte) ([]byte, error) { return []byte(v), nil }
}

// Returns fails the test if f does not return: it turns a hang into a failure.
func Returns(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Errorf("%s does not return", what)
		t.FailNow()
	}
}

// Err is the error of a call with two results.
func Err[T any](_ T, err error) error { return err }
