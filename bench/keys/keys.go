// Package keys lays out the keys of a run in the order in which they are used,
// so that making a key costs every cache the same: next to nothing.
package keys

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"github.com/firncache/firn/internal/workload"
)

// Size is the length of a key, in bytes.
const Size = 16

// Order says which of n keys come in which order.
type Order string

// The orders there are.
const (
	Zipf       Order = "zipf"       // zipf-distributed with exponent Skew, hot keys scattered over the key space
	Uniform    Order = "uniform"    // each key as likely as any other
	Absent     Order = "absent"     // uniform over n other keys, which no run ever stores
	Sequential Order = "sequential" // each key once, in the order of their numbers
)

// Skew is the exponent of the Zipf order.
const Skew = 0.99

// A Stream is a sequence of keys, laid end to end in one slice.
type Stream []byte

// Append appends the key with the given number to dst. Different numbers give
// different keys, whose bytes look random.
func Append(dst []byte, number uint64) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, workload.Scramble(number))
	return binary.LittleEndian.AppendUint64(dst, workload.Scramble(^number))
}

// New lays out count keys out of n in the given order. The same arguments give
// the same stream.
func New(order Order, n, count int, seed uint64) (Stream, error) {
	if n < 1 || count < 0 {
		return nil, fmt.Errorf("keys: %d keys out of %d: expected some out of at least one", count, n)
	}
	next, err := Numbers(order, uint64(n), seed)
	if err != nil {
		return nil, err
	}
	s := make(Stream, 0, count*Size)
	for range count {
		s = Append(s, next())
	}
	return s, nil
}

// Numbers returns a function that yields the numbers of an order's keys, out of
// n, without end. For one goroutine.
func Numbers(order Order, n, seed uint64) (func() uint64, error) {
	rng := rand.New(rand.NewPCG(seed, 0))
	switch order {
	case Zipf:
		z := workload.NewZipf(rand.NewPCG(seed, 0), Skew, n)
		return func() uint64 { return scatter(z.Next(), n) }, nil
	case Uniform:
		return func() uint64 { return rng.Uint64N(n) }, nil
	case Absent:
		return func() uint64 { return n + rng.Uint64N(n) }, nil
	case Sequential:
		i := uint64(0)
		return func() uint64 { i++; return (i - 1) % n }, nil
	}
	return nil, fmt.Errorf("keys: order %q: expected zipf, uniform, absent or sequential", order)
}

// scatter maps [0, n) onto itself, so that hot keys are not neighbours in the
// order in which keys were loaded. The prime exceeds any n in use, so that the
// map is one to one.
func scatter(rank, n uint64) uint64 {
	const prime = 4294967291
	return rank * prime % n
}

// Len returns the number of keys.
func (s Stream) Len() int { return len(s) / Size }

// Slice returns count keys from the given one on, wrapping round at the end:
// where the stream is too short, the part from its start.
func (s Stream) Slice(from, count int) Stream {
	if n := s.Len(); count > n {
		panic(fmt.Sprintf("keys: %d keys asked of a stream of %d", count, n))
	} else if from %= n; from+count > n {
		from = 0
	}
	return s[from*Size : (from+count)*Size]
}
