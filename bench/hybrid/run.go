package hybrid

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firncache/firn/bench/keys"
)

// Pair returns a function that makes the i-th entry. Values look random, so
// that no store can compress them. For one goroutine.
func Pair(valueSize int) func(i int) (key, value []byte) {
	value := make([]byte, valueSize)
	var key []byte
	return func(i int) ([]byte, []byte) {
		key = keys.Append(key[:0], uint64(i))
		Fill(value, uint64(i))
		return key, value
	}
}

// Fill writes bytes that look random and depend on number.
func Fill(value []byte, number uint64) {
	state := number*0x9E3779B97F4A7C15 + 1
	for i := 0; i < len(value); i += 8 {
		state ^= state << 13
		state ^= state >> 7
		state ^= state << 17
		for k := range min(8, len(value)-i) {
			value[i+k] = byte(state >> (8 * k))
		}
	}
}

// A Work is a stream of operations from several goroutines.
type Work struct {
	Order     keys.Order // keys.Zipf or keys.Uniform
	Sets      int        // of 100 operations, how many are Sets
	InFlight  int
	Entries   int
	ValueSize int
	Time      time.Duration
}

// A Result is the outcome of a run.
type Result struct {
	Ops, Gets, Misses, Sets int64
	Elapsed                 time.Duration
	Read, Written           int64 // bytes of the device; -1: not known
}

// Run does w on s. flush says whether to flush at the end, so that the bytes
// written are those of w; the time does not count.
func Run(s Store, w Work, seed uint64, flush bool) (r Result, err error) {
	next := make([]func() uint64, w.InFlight)
	for g := range next {
		if next[g], err = keys.Numbers(w.Order, uint64(w.Entries), seed+uint64(g)); err != nil {
			return r, err
		}
	}
	var stop atomic.Bool
	parts := make([]Result, w.InFlight)
	errs := make([]error, w.InFlight)
	before, began := ReadIO(), time.Now()
	var done sync.WaitGroup
	for g := range w.InFlight {
		done.Go(func() { errs[g] = w.loop(s, next[g], seed+uint64(g), &stop, &parts[g]) })
	}
	time.Sleep(w.Time)
	stop.Store(true)
	done.Wait()
	r.Elapsed = time.Since(began)
	for g, p := range parts {
		if errs[g] != nil {
			return r, errs[g]
		}
		r.Ops, r.Gets, r.Misses, r.Sets = r.Ops+p.Ops, r.Gets+p.Gets, r.Misses+p.Misses, r.Sets+p.Sets
	}
	if flush {
		if err := s.Flush(); err != nil {
			return r, err
		}
	}
	r.Read, r.Written = -1, -1
	if after := ReadIO(); after.Known {
		r.Read, r.Written = after.Read-before.Read, after.Written-before.Written
	}
	return r, nil
}

// loop is one goroutine's operations, at least one. Keys are made as they are
// used: laid out beforehand they would take memory from the store, or come back
// too soon.
func (w Work) loop(s Store, next func() uint64, seed uint64, stop *atomic.Bool, r *Result) error {
	rng := rand.New(rand.NewPCG(seed, 7))
	value, buf := make([]byte, w.ValueSize), make([]byte, 0, w.ValueSize)
	var key []byte
	for i := 0; i == 0 || !stop.Load(); i++ {
		key = keys.Append(key[:0], next())
		r.Ops++
		if rng.IntN(100) < w.Sets {
			r.Sets++
			Fill(value, rng.Uint64())
			if err := s.Set(key, value); err != nil {
				return fmt.Errorf("set: %w", err)
			}
			continue
		}
		r.Gets++
		v, ok, err := s.Get(buf, key)
		if err != nil {
			return fmt.Errorf("get: %w", err)
		}
		if !ok {
			r.Misses++
		} else if len(v) != w.ValueSize {
			return fmt.Errorf("get: value of %d bytes; expected %d", len(v), w.ValueSize)
		}
	}
	return nil
}
