package main

import (
	"fmt"
	"runtime"

	"github.com/firncache/firn/bench/rivals"
	"github.com/firncache/firn/bench/samples"
	"github.com/firncache/firn/bench/turn"
)

// classicPasses is the number of times that each goroutine goes through all
// items in one turn.
func (j job) classicPasses() int {
	if j.Small {
		return 1
	}
	return 8
}

func classicWeight(j job) float64 { return 0.05 * float64(j.Repeats*j.classicPasses()) }

// fourProcessors is the GOMAXPROCS that the articles' tables were made with,
// whatever the machine has.
func fourProcessors(job) []string { return []string{"GOMAXPROCS=4"} }

// classicConfig gives every cache what fastcache rounds its own benchmark's
// size up to: 32 MiB.
var classicConfig = rivals.Config{Entries: turn.ClassicItems, KeySize: 4, ValueSize: 4, Bytes: 32 << 20}

// classicOps lists the loops in the order of the tables.
var classicOps = []turn.ClassicOp{turn.ClassicGet, turn.ClassicSet, turn.ClassicSetGet}

// runClassic lets firn and the rival take turns in fastcache's own benchmark,
// with as many goroutines as processors.
func runClassic(j job, out *emitter) error {
	players, err := openPair(j.Rival, classicConfig)
	if err != nil {
		return err
	}
	for _, p := range players {
		if err := turn.ClassicPass(p.cache, turn.ClassicSet, new(turn.Result)); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		p.cache.Wait()
	}
	gc := newCollector()
	for _, op := range classicOps {
		cell, err := playClassic(j, op, players, gc)
		if err != nil {
			return err
		}
		out.emit(cell...)
	}
	return nil
}

// playClassic measures one of the loops. The first turn of each cache warms it
// up and does not count.
func playClassic(j job, op turn.ClassicOp, players []player, gc *collector) ([]samples.Sample, error) {
	var out []samples.Sample
	for repeat := -1; repeat < j.Repeats; repeat++ {
		for _, p := range players {
			r, err := turn.Classic(p.cache, op, runtime.GOMAXPROCS(0), j.classicPasses())
			if err != nil {
				return nil, fmt.Errorf("%s: %w", p.name, err)
			}
			gc.settle(p)
			if repeat >= 0 {
				out = append(out, p.sample(j.Suite, classicName(op), repeat, r))
			}
		}
	}
	return out, nil
}

func classicName(op turn.ClassicOp) string {
	return fmt.Sprintf("%s/items=%d/gomaxprocs=%d", op, turn.ClassicItems, runtime.GOMAXPROCS(0))
}
