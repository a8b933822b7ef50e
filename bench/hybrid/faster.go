package hybrid

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/firncache/firn/bench/keys"
)

// FasterKvCache's table: few keys, half of the operations on hot ones. Every
// goroutine does all of its operations, which the published table's did not.
const (
	FasterKeys      = 1000
	fasterHot       = 50 // keys that get half of the operations
	FasterValueSize = 4 << 10
	FasterMemory    = 2 << 20 // bytes: half of the data
	fasterOps       = 1000    // of each goroutine in a turn
)

// FasterGoroutines are the columns of the table.
var FasterGoroutines = []int{1, 4, 8}

// FasterOps are its parts, with how many of 100 operations are Sets.
var FasterOps = []struct {
	Name string
	Sets int
}{{"read", 0}, {"write", 100}, {"mixed", 50}}

// Faster does one turn and returns the time of 1,000 operations: of the time
// that all took, their share.
func Faster(s Store, sets, goroutines int, seed uint64) (perThousand time.Duration, misses int64, err error) {
	errs := make([]error, goroutines)
	lost := make([]int64, goroutines)
	began := time.Now()
	var done sync.WaitGroup
	for g := range goroutines {
		done.Go(func() { lost[g], errs[g] = fasterTurn(s, sets, seed+uint64(g)) })
	}
	done.Wait()
	took := time.Since(began)
	for g := range goroutines {
		misses += lost[g]
		if errs[g] != nil {
			return 0, misses, errs[g]
		}
	}
	return took / time.Duration(goroutines) * 1000 / fasterOps, misses, nil
}

func fasterTurn(s Store, sets int, seed uint64) (misses int64, err error) {
	rng := rand.New(rand.NewPCG(seed, 3))
	value, buf := make([]byte, FasterValueSize), make([]byte, 0, FasterValueSize)
	var key []byte
	for range fasterOps {
		number := rng.Uint64N(FasterKeys)
		if rng.IntN(2) == 0 {
			number = rng.Uint64N(fasterHot)
		}
		key = keys.Append(key[:0], number)
		if rng.IntN(100) < sets {
			Fill(value, number)
			if err := s.Set(key, value); err != nil {
				return misses, fmt.Errorf("set: %w", err)
			}
			continue
		}
		v, ok, err := s.Get(buf, key)
		if err != nil {
			return misses, fmt.Errorf("get: %w", err)
		}
		if !ok {
			misses++
		} else if len(v) != FasterValueSize {
			return misses, fmt.Errorf("get: value of %d bytes; expected %d", len(v), FasterValueSize)
		}
	}
	return misses, nil
}
