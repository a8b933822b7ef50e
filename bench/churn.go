package main

import (
	"fmt"
	"time"

	"github.com/firncache/firn/bench/keys"
	"github.com/firncache/firn/bench/rivals"
	"github.com/firncache/firn/bench/samples"
)

// churnRounds is the number of rounds of churn, of a quarter as many Sets each
// as the cache has room for.
const churnRounds = 5

// runChurn fills a cache that has room for about the job's entries and goes on
// storing new ones, each of which pushes an older one out. It measures how
// long the slowest single Set takes, while the cache fills and in each round
// of churn, and beside it the slowest of nothing at all: what the machine
// itself holds a program up. From a cache without a limit the oldest entry is
// deleted before each Set.
func runChurn(j job, out *emitter) error {
	r, err := rivals.Find(j.Rival)
	if err != nil {
		return err
	}
	cfg := j.config()
	cfg.Bytes = max(j.entryBytes()*int64(j.Entries), 32<<20) // fastcache has no smaller caches
	cfg.Entries = cfg.Entries * 3 / 4                        // a cache limited by number is told a quarter more
	c, err := r.Open(cfg)
	if err != nil {
		return fmt.Errorf("open %s: %w", j.Rival, err)
	}
	defer c.Close()
	value := makeValue(j.ValueSize)
	slowest, _ := churn(c, 0, j.Entries, 0, value)
	out.emit(j.measure("slowest-set-filling", milliseconds(slowest), "ms", nil))
	keep := j.Entries
	if r.Bound {
		keep = 0
	}
	var sets, idles []samples.Sample
	for round := range churnRounds {
		from := j.Entries + round*j.Entries/4
		slowest, took := churn(c, from, from+j.Entries/4, keep, value)
		s := j.measure("slowest-set", milliseconds(slowest), "ms", nil)
		idle := j.measure("slowest-nothing", milliseconds(slowestNothing(min(took, time.Second))), "ms", nil)
		s.Repeat, idle.Repeat = round, round
		sets, idles = append(sets, s), append(idles, idle)
	}
	out.emit(sets...)
	out.emit(idles...)
	return nil
}

// churn stores the entries with numbers in [from, to) and returns the time of
// the slowest Set and of all. With keep > 0 it deletes the entry keep numbers
// back before each Set.
func churn(c rivals.Cache, from, to, keep int, value []byte) (slowest, took time.Duration) {
	var key, old []byte
	began := time.Now()
	for i := from; i < to; i++ {
		if keep > 0 {
			old = keys.Append(old[:0], uint64(i-keep))
			c.Delete(old)
		}
		key = keys.Append(key[:0], uint64(i))
		t := time.Now()
		c.Set(key, value)
		slowest = max(slowest, time.Since(t))
	}
	return slowest, time.Since(began)
}

// slowestNothing reads the clock for the given time and returns the longest
// gap between two readings.
func slowestNothing(d time.Duration) (slowest time.Duration) {
	began := time.Now()
	for last := began; last.Sub(began) < d; {
		now := time.Now()
		slowest = max(slowest, now.Sub(last))
		last = now
	}
	return slowest
}

func milliseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }
