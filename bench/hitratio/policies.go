package hitratio

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firncache/firn/bench/keys"
	"github.com/firncache/firn/bench/rivals"
	"github.com/firncache/firn/internal/policy/sim"
)

// A Policy decides which entries a cache of so many bytes keeps.
type Policy struct {
	Name   string
	Setup  string // the costs that count, for the report
	real   bool
	cost   int64 // simulated: bytes of bookkeeping for each entry
	sized  bool  // simulated: it knows entries of different sizes
	misses func(t *Trace, capacity, cost int64) (misses int, refused int64, err error)
}

// What an entry costs at least: a place in a hash index, and the lengths of key
// and value.
const entryCost = 20

// Policies lists them: real caches, then simulated ones, then the bound.
var Policies = []Policy{
	realCache(rivals.Firn), realCache("otter"), realCache("theine"), realCache("ristretto"),
	simulated("S3-FIFO", entryCost+4, "fingerprints of 4 bytes for ghosts, as many as entries", sim.NewS3FIFO, sim.NewSizedS3FIFO),
	simulated("LRU", entryCost+8, "two links of 4 bytes", sim.NewLRU, sim.NewSizedLRU),
	simulated("2Q", entryCost+8+8, "two links, and half as many ghosts of 16 bytes as entries", sim.New2Q, nil),
	simulated("ARC", entryCost+8+16, "two links, and as many ghosts of 16 bytes as entries", sim.NewARC, nil),
	simulated("FIFO", entryCost, "nothing more", sim.NewFIFO, nil),
	{Name: "Belady", Setup: "the bound: knows the future, bookkeeping is free; simulated", misses: func(t *Trace, capacity, _ int64) (int, int64, error) {
		return sim.Belady(t.Requests, len(t.Sizes), t.entries(capacity, 0)), 0, nil
	}},
}

// Names lists the policies.
func Names() []string {
	var names []string
	for _, p := range Policies {
		names = append(names, p.Name)
	}
	return names
}

// Smallest is the smallest cache to compare, in bytes: firn's.
const Smallest = 64 << 10

// Ratio runs the trace through a cache of the given bytes and returns misses,
// and Sets that were refused. ok is false where the policy cannot take part.
func (p Policy) Ratio(t *Trace, capacity int64) (misses int, refused int64, ok bool, err error) {
	if capacity < Smallest || t.Sized && !p.real && !p.sized {
		return 0, 0, false, nil
	}
	misses, refused, err = p.misses(t, capacity, p.cost)
	return misses, refused, err == nil, err
}

// Lookup returns the policy of that name.
func Lookup(name string) (Policy, error) {
	i := slices.IndexFunc(Policies, func(p Policy) bool { return p.Name == name })
	if i < 0 {
		return Policy{}, fmt.Errorf("policy %q: expected one of %s", name, strings.Join(Names(), ", "))
	}
	return Policies[i], nil
}

// entries is how many entries of the trace's one size a capacity holds.
func (t *Trace) entries(capacity, cost int64) int {
	return max(1, int(capacity/(keys.Size+int64(t.Sizes[0])+cost)))
}

// simulated is a policy of the literature.
func simulated(name string, cost int64, pays string, plain sim.New, sized func(keys, capacity int, sizes []int32) sim.Cache) Policy {
	p := Policy{Name: name, cost: cost, sized: sized != nil, Setup: fmt.Sprintf("simulated; %d bytes of bookkeeping an entry: index, lengths, %s", cost, pays)}
	p.misses = func(t *Trace, capacity, cost int64) (int, int64, error) {
		if !t.Sized {
			return sim.Misses(plain(len(t.Sizes), t.entries(capacity, cost)), t.Requests), 0, nil
		}
		charged := make([]int32, len(t.Sizes))
		for i, size := range t.Sizes {
			charged[i] = int32(keys.Size + int64(size) + cost)
		}
		return sim.Misses(sized(len(t.Sizes), int(capacity), charged), t.Requests), 0, nil
	}
	return p
}

// settleEvery is the number of reads after which an asynchronous cache may
// catch up. It also may after each Set, so that it neither forgets reads nor
// holds more than it should.
const settleEvery = 16

// realCache is a cache as it is, with values of the trace's sizes.
func realCache(name string) Policy {
	return Policy{Name: name, real: true, Setup: "the cache itself, its limit in bytes; it catches up after each Set and each 16 reads", misses: func(t *Trace, capacity, _ int64) (misses int, refused int64, err error) {
		r, err := rivals.Find(name)
		if err != nil {
			return 0, 0, err
		}
		c, err := r.Open(rivals.Config{KeySize: keys.Size, Bytes: capacity})
		if err != nil {
			return 0, 0, fmt.Errorf("open %s with %d bytes: %w", name, capacity, err)
		}
		defer c.Close()
		value := make([]byte, slices.Max(t.Sizes))
		var key, buf []byte
		for i, number := range t.Requests {
			key = keys.Append(key[:0], uint64(number))
			if _, ok := c.Get(buf[:0], key); ok {
				if i%settleEvery == 0 {
					c.Wait()
				}
				continue
			}
			misses++
			if !c.Set(key, value[:t.Sizes[number]]) {
				refused++
			}
			c.Wait()
		}
		return misses, refused, nil
	}}
}
