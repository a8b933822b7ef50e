package main

import (
	"bytes"
	"fmt"
	"time"

	"github.com/firncache/firn/bench/keys"
	"github.com/firncache/firn/bench/rivals"
	"github.com/firncache/firn/bench/samples"
)

// bigBudget is the size of the caches that values of bigSizes are put in, in
// bytes. Half of it is filled.
func (j job) bigBudget() int64 {
	if j.Small {
		return 32 << 20
	}
	return 256 << 20
}

// bigSizes are in bytes: where fastcache needs SetBig, up to a megabyte.
var bigSizes = []int{64 << 10, 128 << 10, 256 << 10, 512 << 10, 1 << 20}

// bigSizes are those that the job measures: in small, the least and the largest.
func (j job) bigSizes() []int {
	if j.Small {
		return []int{bigSizes[0], bigSizes[len(bigSizes)-1]}
	}
	return bigSizes
}

func bigWeight(j job) float64 { return 0.05 * float64(len(j.bigSizes())*2*j.Repeats) }

// runBig lets firn and the rival take turns in storing large values and reading
// them back. The rate is of values that were taken, or found. A turn stores or reads
// as many as half fill the cache.
func runBig(j job, out *emitter) error {
	for _, size := range j.bigSizes() {
		cfg := rivals.Config{KeySize: keys.Size, ValueSize: size, Entries: int(j.bigBudget()) / 2 / size, Bytes: j.bigBudget()}
		players, err := openPair(j.Rival, cfg)
		if err != nil {
			return err
		}
		out.emit(playBig(j, players, cfg)...)
		for _, p := range players {
			p.cache.Close()
		}
	}
	return nil
}

// playBig measures one size. The first turn warms up.
func playBig(j job, players []player, cfg rivals.Config) []samples.Sample {
	var out []samples.Sample
	gc := newCollector()
	count := cfg.Entries
	value := makeValue(cfg.ValueSize)
	name := func(op string) string { return fmt.Sprintf("big-%s/value=%d", op, cfg.ValueSize) }
	rate := func(count int, d time.Duration) float64 { return float64(count*cfg.ValueSize) / 1e6 / d.Seconds() }
	for repeat := -1; repeat < j.Repeats; repeat++ {
		for _, p := range players {
			set, refused := bigSets(p.cache, count, value)
			gc.settle(p)
			get, readable := bigGets(p.cache, count, value)
			gc.settle(p)
			if repeat < 0 {
				continue
			}
			hit := float64(readable) / float64(count)
			s := samples.Sample{Suite: j.Suite, Cache: p.name, Against: p.against, Repeat: repeat, Ops: int64(count), Unit: "MB/s"}
			s.Name, s.Value, s.Refused = name("set"), rate(count-int(refused), set), refused
			out = append(out, s)
			s.Name, s.Value, s.Refused, s.Hit, s.Misses = name("get"), rate(readable, get), 0, &hit, int64(count-readable)
			out = append(out, s)
			s.Name, s.Value, s.Unit, s.Dropped = name("readable"), 100*hit, "%", int64(count-readable)
			out = append(out, s)
		}
	}
	return out
}

// bigSets stores count values, each different.
func bigSets(c rivals.Cache, count int, value []byte) (took time.Duration, refused int64) {
	var key []byte
	began := time.Now()
	for i := range count {
		key, value[0] = keys.Append(key[:0], uint64(i)), byte(i)
		if !c.Set(key, value) {
			refused++
		}
	}
	c.Wait()
	return time.Since(began), refused
}

// bigGets reads count values and counts those that are as they were stored. It
// compares their ends only, which costs every cache the same.
func bigGets(c rivals.Cache, count int, value []byte) (took time.Duration, readable int) {
	const ends = 64
	var key []byte
	buf := make([]byte, 0, len(value))
	began := time.Now()
	for i := range count {
		key, value[0] = keys.Append(key[:0], uint64(i)), byte(i)
		v, ok := c.Get(buf, key)
		if ok && len(v) == len(value) && bytes.Equal(v[:ends], value[:ends]) && bytes.Equal(v[len(v)-ends:], value[len(value)-ends:]) {
			readable++
		}
	}
	return time.Since(began), readable
}

// bigRivals are those whose values may be that large at all, or that claim to
// take them.
var bigRivals = []string{"fastcache", "bigcache", "freecache", "otter", "map"}
