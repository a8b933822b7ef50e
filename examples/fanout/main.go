// Command fanout answers a request that needs many values at once: what the
// cache holds comes from one batch, the rest is fetched concurrently, each value
// once, whoever else asks for it. When the request is given up, its fetches go on:
// the next request finds their values.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/firncache/firn"
	"golang.org/x/sync/errgroup"
)

// atOnce is how many fetches a request starts at a time.
const atOnce = 8

// Prices looks up prices, and fetches those that are not cached.
type Prices struct {
	cache *firn.Cache
	fetch firn.LoadFunc
}

// All returns the prices of the symbols, in their order. It ends early with the
// first error, or with the context's.
func (p *Prices) All(ctx context.Context, symbols []string) ([]string, error) {
	keys := make([][]byte, len(symbols))
	for i, s := range symbols {
		keys[i] = []byte(s)
	}
	var batch firn.Batch
	p.cache.GetMulti(ctx, &batch, keys)

	prices := make([]string, len(symbols))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i, key := range keys {
		if price, ok := batch.Value(i); ok {
			prices[i] = string(price)
			continue
		}
		group.Go(func() error {
			price, err := p.cache.GetOrLoad(ctx, nil, key, p.fetch)
			if err != nil {
				return fmt.Errorf("price of %s: %w", key, err)
			}
			prices[i] = string(price)
			return nil
		})
	}
	return prices, group.Wait()
}

func run() error {
	cache, err := firn.Open(firn.Options{RAMBytes: 1 << 20})
	if err != nil {
		return err
	}
	defer cache.Close()
	prices := Prices{cache, func(_ context.Context, key []byte) ([]byte, error) {
		return fmt.Appendf(nil, "%d.00", len(key)), nil // a slow service
	}}
	all, err := prices.All(context.Background(), []string{"SNOW", "FIRN", "GLACIER"})
	if err != nil {
		return err
	}
	fmt.Println(all)
	return nil
}

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}
