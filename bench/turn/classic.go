package turn

import (
	"bytes"
	"fmt"
	"sync"
	"time"

	"github.com/firncache/firn/bench/rivals"
)

// ClassicItems is the number of items that one pass of fastcache's own
// benchmark goes through. Keys and values have 4 bytes.
const ClassicItems = 1 << 16

// ClassicOp is one of the three loops of that benchmark.
type ClassicOp string

// The loops there are.
const (
	ClassicSet    ClassicOp = "Set"
	ClassicGet    ClassicOp = "Get"
	ClassicSetGet ClassicOp = "SetGet" // a pass of Sets, then a pass of Gets
)

// Ops returns the number of operations in one pass.
func (op ClassicOp) Ops() int {
	if op == ClassicSetGet {
		return 2 * ClassicItems
	}
	return ClassicItems
}

// Classic runs passes over all items in each goroutine, as testing.B's
// RunParallel would.
func Classic(c rivals.Cache, op ClassicOp, goroutines, passes int) (Result, error) {
	start := make(chan struct{})
	parts := make([]Result, goroutines)
	errs := make([]error, goroutines)
	var done sync.WaitGroup
	for g := range goroutines {
		done.Go(func() {
			<-start
			for p := 0; p < passes && errs[g] == nil; p++ {
				errs[g] = ClassicPass(c, op, &parts[g])
			}
		})
	}
	began := time.Now()
	close(start)
	done.Wait()
	r := Result{Elapsed: time.Since(began), Ops: int64(op.Ops() * goroutines * passes)}
	for g, p := range parts {
		if errs[g] != nil {
			return r, errs[g]
		}
		r.Gets += p.Gets
		r.Hits += p.Hits
		r.Refused += p.Refused
	}
	return r, nil
}

// ClassicPass goes through all items once, as fastcache's timing tests do: each
// key is the next in order, each value that is found is compared. It adds what
// it counts to r.
func ClassicPass(c rivals.Cache, op ClassicOp, r *Result) error {
	if op != ClassicGet {
		r.Refused += classicSet(c)
	}
	if op == ClassicSet {
		return nil
	}
	hits, err := classicGet(c)
	r.Gets += ClassicItems
	r.Hits += hits
	return err
}

var classicValue = []byte("xyza")

func classicSet(c rivals.Cache) (refused int64) {
	key := []byte{0, 0, 0, 0}
	for range ClassicItems {
		next(key)
		if !c.Set(key, classicValue) {
			refused++
		}
	}
	return refused
}

func classicGet(c rivals.Cache) (hits int64, err error) {
	key := []byte{0, 0, 0, 0}
	buf := make([]byte, 0, 64)
	for range ClassicItems {
		next(key)
		v, ok := c.Get(buf, key)
		if !ok {
			continue
		}
		hits++
		if !bytes.Equal(v, classicValue) {
			return hits, fmt.Errorf("classic: key %x: got %q, expected %q", key, v, classicValue)
		}
	}
	return hits, nil
}

// next counts the first two bytes of key up.
func next(key []byte) {
	key[0]++
	if key[0] == 0 {
		key[1]++
	}
}
