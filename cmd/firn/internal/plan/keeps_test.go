package plan_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/firncache/firn"
	"github.com/firncache/firn/cmd/firn/internal/plan"
	"github.com/firncache/firn/internal/workload"
	"github.com/firncache/firn/stats"
)

// docs/CAPACITY.md has what this prints with more keys than the default.
var keepsTable = flag.Bool("keeps", false, "run the whole table of loads, fills and admissions")

// load is a stream of requests for keys from 0 to n.
type load struct {
	name string
	step func(c *client, i int)
}

// client makes requests of a cache.
type client struct {
	c     *firn.Cache
	t     *testing.T
	rng   *rand.Rand
	ranks *workload.Zipf
	n     int
	k     []byte
	got   []byte
	value []byte
}

func (c *client) get(i int) (ok bool) {
	c.k = key(c.k, i)
	c.got, ok = c.c.Get(c.got[:0], c.k)
	return ok
}

func (c *client) set(i int) {
	c.k = key(c.k, i)
	if err := c.c.Set(c.k, c.value); err != nil {
		c.t.Fatal(err)
	}
}

// aside reads a key, and stores what is missing.
func (c *client) aside(i int) {
	if !c.get(i) {
		c.set(i)
	}
}

var loads = []load{
	{"updates: 50 % Set, 30 % Get, 20 % Delete, uniform", func(c *client, _ int) {
		switch i, r := c.rng.IntN(c.n), c.rng.IntN(10); {
		case r < 5:
			c.set(i)
		case r < 8:
			c.get(i)
		default:
			c.k = key(c.k, i)
			if err := c.c.Delete(c.k); err != nil {
				c.t.Fatal(err)
			}
		}
	}},
	{"cache-aside: 95 % Get, 5 % Set, Zipf 0.8", func(c *client, _ int) {
		if i := int(c.ranks.Next()); c.rng.IntN(20) == 0 {
			c.set(i)
		} else {
			c.aside(i)
		}
	}},
	{"scans: every other Get the next key, the others Zipf 0.8", func(c *client, i int) {
		if i%2 == 0 {
			c.aside(i / 2 % c.n)
		} else {
			c.aside(int(c.ranks.Next()))
		}
	}},
}

// kept is what a cache did with a load.
type kept struct {
	hits, live   float64 // shares of the reads and of the SSD
	written, set uint64  // bytes
	entries      int64
}

// perSet is how many bytes were written to the SSD for each that was stored.
func (k *kept) perSet() string {
	if k.set == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f", float64(k.written)/float64(k.set))
}

// keep runs a load over n keys, whose data is fill times as large as the SSD tier.
func keep(t *testing.T, l *load, n int, fill float64, admission firn.Admission) kept {
	const value = 640
	data := int64(n) * (keyBytes + value)
	q := plan.Question{
		Entries: int64(n), Key: keyBytes, Value: value, Admission: admission,
		RAM: max(data/32, 1<<20), SSD: int64(float64(data) / fill), Popularity: plan.Popularity{Zipf: .8},
	}
	c := &client{
		c: open(t, &q), t: t, n: n, value: make([]byte, value),
		rng: rand.New(rand.NewPCG(1, 2)), ranks: workload.NewZipf(rand.NewPCG(3, 4), .8, uint64(n)),
	}
	const turns = 12 // of as many requests as there are keys; half of them warm the cache
	var warm stats.Cache
	for i := range turns * n {
		if i == turns/2*n {
			warm = c.c.Stats()
		}
		rest(i)
		l.step(c, i)
	}
	s := c.c.Stats()
	hits, misses := s.Hits-warm.Hits, s.Misses-warm.Misses
	return kept{
		hits:    float64(hits) / float64(hits+misses),
		live:    float64(s.SSD.Entries*(keyBytes+value)) / float64(s.SSD.Bytes),
		written: s.SSD.WrittenBytes - warm.SSD.WrittenBytes,
		set:     (s.Sets - warm.Sets) * (keyBytes + value),
		entries: s.SSD.Entries,
	}
}

// Whatever the load, the default admission finds what AdmitAll finds wherever the
// data fits. With -keeps it prints a table, also for what does not fit.
func TestKeepsWhatFits(t *testing.T) {
	fills, admissions := []float64{.5, .8}, []firn.Admission{firn.AdmitAll, firn.AdmitSeen}
	if *keepsTable {
		fills, admissions = []float64{.25, .5, .8, 1.2, 3}, append(admissions, firn.AdmitRead)
	}
	type cell struct {
		load      int
		fill      float64
		admission firn.Admission
	}
	var mu sync.Mutex
	all := map[cell]kept{}
	t.Run("load", func(t *testing.T) {
		for i := range loads {
			for _, fill := range fills {
				for _, admission := range admissions {
					bubble(t, fmt.Sprintf("%d/%v/%v", i, fill, admission), func(t *testing.T) {
						k := keep(t, &loads[i], *records, fill, admission)
						mu.Lock()
						defer mu.Unlock()
						all[cell{i, fill, admission}] = k
					})
				}
			}
		}
	})
	var table strings.Builder
	for i := range loads {
		for _, fill := range fills {
			best := all[cell{i, fill, firn.AdmitAll}]
			fmt.Fprintf(&table, "| %s | %v |", loads[i].name, fill)
			for _, admission := range admissions {
				k := all[cell{i, fill, admission}]
				fmt.Fprintf(&table, " %.1f %% | %.0f %% | %s |", 100*k.hits, 100*k.live, k.perSet())
				if admission == firn.AdmitSeen && fill < 1 && !(math.Abs(k.hits-best.hits) <= .01) {
					t.Errorf("%s, data/SSD %v: %.1f %% hits, and %.1f %% with AdmitAll: %+v, %+v", loads[i].name, fill, 100*k.hits, 100*best.hits, k, best)
				}
			}
			table.WriteByte('\n')
		}
	}
	head, line := "| load | data/SSD |", "|---|--:|"
	for _, a := range admissions {
		head += fmt.Sprintf(" `%v`: hits | live | written |", a)
		line += "--:|--:|--:|"
	}
	t.Logf("%d keys\n%s\n%s\n%s", *records, head, line, table.String())
}
