package main

import (
	"fmt"

	"github.com/firncache/firn/bench/keys"
	"github.com/firncache/firn/bench/rivals"
	"github.com/firncache/firn/bench/turn"
)

// A cell is one benchmark of the matrix.
type cell struct {
	Op         turn.Op
	Order      keys.Order
	Goroutines int
}

// Which cells a pair plays.
const (
	allCells    = "all"    // the matrix
	fewCells    = "few"    // four of them
	growthCells = "growth" // three of them, at another number of entries
)

var cellSets = []string{allCells, fewCells, growthCells}

// cellName is the cell as it stands in results.
func (j job) cellName(c cell) string {
	prefix := ""
	if j.Cells == growthCells {
		prefix = growthCells + "/"
	}
	return prefix + fmt.Sprintf("%s/%s/n=%d/value=%d/goroutines=%d", c.Op, c.Order, j.Entries, j.ValueSize, c.Goroutines)
}

// cells lists the cells of the job: reads first, since writes can push
// entries out of caches that append every version.
func (j job) cells() []cell {
	switch j.Cells {
	case fewCells:
		return []cell{{turn.Get, keys.Zipf, 2}, {turn.Get, keys.Absent, 2}, {turn.Mix, keys.Zipf, 2}, {turn.Set, keys.Zipf, 2}}
	case growthCells:
		return []cell{{turn.Get, keys.Zipf, 2}, {turn.Mix, keys.Zipf, 2}, {turn.Set, keys.Zipf, 2}}
	}
	var cells []cell
	add := func(op turn.Op, goroutines []int, orders ...keys.Order) {
		for _, o := range orders {
			for _, g := range goroutines {
				cells = append(cells, cell{op, o, g})
			}
		}
	}
	few, some, all := []int{1, 2}, []int{1, 2, 64}, []int{1, 2, 4, 8, 16, 32, 64}
	if j.Suite == "large" {
		some, all = few, few
	}
	add(turn.Get, all, keys.Zipf)
	add(turn.Get, some, keys.Uniform, keys.Absent)
	if j.Rival == "fastcache" {
		add(turn.GetBatch, few, keys.Zipf, keys.Uniform)
	}
	add(turn.Mix, all, keys.Zipf)
	add(turn.Mix, some, keys.Uniform)
	add(turn.Set, some, keys.Zipf, keys.Uniform)
	if j.Rival == "fastcache" {
		add(turn.SetBatch, few, keys.Zipf, keys.Uniform)
	}
	return cells
}

// latencyCells lists the cells whose single calls are timed.
func (j job) latencyCells() []cell {
	if j.Cells == growthCells || j.Suite == "large" {
		return nil
	}
	return []cell{{turn.Get, keys.Zipf, 1}, {turn.Mix, keys.Zipf, 64}}
}

// ops is the number of operations in one turn: more with many goroutines, so
// that the scheduler has time to interleave them.
func (j job) ops(goroutines int) int {
	ops := 1 << 20
	if goroutines > 32 {
		ops <<= 2
	}
	if j.ValueSize > 512 {
		ops >>= 1
	}
	least := 1 << 16
	if j.Small {
		least = 1 << 13
	}
	return min(ops, max(2*j.Entries, least))
}

// streamLen is the number of keys laid out for each order: several turns
// before a key comes back for the same reason.
func (j job) streamLen() int { return 2 * j.ops(64) }

// pairWeight is in seconds: the time of two caches, one of which is slow.
func pairWeight(j job) float64 {
	w := float64(j.Entries) / 1e6
	for _, c := range append(j.cells(), j.latencyCells()...) {
		w += 0.6e-6 / float64(min(c.Goroutines, 2)) * float64(j.ops(c.Goroutines)*j.Repeats)
	}
	return w
}

// pairMemory is the memory of firn, the rival and the keys together.
func pairMemory(j job) int64 {
	rival := j.entryBytes() + onHeap
	if r, err := rivals.Find(j.Rival); err == nil && r.OffHeap {
		rival = j.entryBytes() * 3 / 2
	}
	return int64(j.Entries)*(j.entryBytes()+rival) + 3*int64(j.streamLen())*keys.Size + 1<<28
}
