package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/firncache/firn"
)

func Example() {
	main()
	// Output: [4.00 4.00 7.00]
}

func open(t *testing.T) *firn.Cache {
	t.Helper()
	c, err := firn.Open(firn.Options{RAMBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// Many requests for overlapping symbols fetch each symbol once.
func TestEachOnce(t *testing.T) {
	var fetches atomic.Int64
	prices := Prices{open(t), func(_ context.Context, key []byte) ([]byte, error) {
		fetches.Add(1)
		return slices.Concat([]byte("price of "), key), nil
	}}
	var symbols, want []string
	for i := range 100 {
		symbols = append(symbols, fmt.Sprint(i))
		want = append(want, fmt.Sprint("price of ", i))
	}
	var wait sync.WaitGroup
	for range 20 {
		wait.Go(func() {
			if got, err := prices.All(t.Context(), symbols); err != nil || !slices.Equal(got, want) {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
	wait.Wait()
	if n := fetches.Load(); n != 100 {
		t.Errorf("%d fetches, want 100", n)
	}
}

// A request that is given up ends at once. Its fetches go on, and the next request finds
// their prices.
func TestGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var fetches atomic.Int64
		answer := make(chan struct{})
		prices := Prices{open(t), func(context.Context, []byte) ([]byte, error) {
			fetches.Add(1)
			<-answer
			return []byte("1.00"), nil
		}}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() {
			_, err := prices.All(ctx, []string{"a", "b", "c"})
			done <- err
		}()
		synctest.Wait() // three fetches wait
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("%v, want context.Canceled", err)
		}
		close(answer)
		synctest.Wait()
		got, err := prices.All(t.Context(), []string{"a", "b", "c"})
		if want := []string{"1.00", "1.00", "1.00"}; err != nil || !slices.Equal(got, want) {
			t.Errorf("%v, %v, want %v", got, err, want)
		}
		if n := fetches.Load(); n != 3 {
			t.Errorf("%d fetches, want 3", n)
		}
	})
}

// The first error ends the request, and names the symbol.
func TestFetchFails(t *testing.T) {
	prices := Prices{open(t), func(_ context.Context, key []byte) ([]byte, error) {
		if string(key) == "b" {
			return nil, firn.ErrNotFound
		}
		return key, nil
	}}
	if _, err := prices.All(t.Context(), []string{"a", "b"}); !errors.Is(err, firn.ErrNotFound) || err.Error() != "price of b: firn: not found" {
		t.Errorf("%v", err)
	}
}
