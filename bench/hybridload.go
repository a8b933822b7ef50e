package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/firncache/firn/bench/hybrid"
	"github.com/firncache/firn/bench/keys"
	"github.com/firncache/firn/bench/samples"
)

// freshStore makes an empty directory for a store, after removing those of
// others: one at a time is enough for any disk.
func freshStore(j job, what string) (string, error) {
	_, root, err := j.hybridParam()
	if err != nil {
		return "", err
	}
	if err := os.RemoveAll(root); err != nil {
		return "", err
	}
	dir := filepath.Join(root, j.Rival+"-"+what)
	return dir, os.MkdirAll(dir, 0o755)
}

func (j job) hybridSample(name, unit string, repeat int, ops int64, value float64) samples.Sample {
	return samples.Sample{Suite: j.Suite, Name: name, Cache: j.Rival, Repeat: repeat, Ops: max(ops, 1), Value: value, Unit: unit}
}

func hybridLoadWeight(j job) float64 { return 3 + float64(j.hybridData())/120e6 }

// runHybridLoad fills a store, in the order of the keys.
func runHybridLoad(j job, out *emitter) error {
	dir, err := freshStore(j, "data")
	if err != nil {
		return err
	}
	e, err := hybrid.Find(j.Rival)
	if err != nil {
		return err
	}
	s, err := e.Open(hybrid.Config{Dir: dir, Memory: loadMemory(j.hybridData()), Least: storeMemory(hybridLeast(j)), DataBytes: j.hybridData(), Readers: 1})
	if err != nil {
		return err
	}
	next := sorted(j.Entries, j.ValueSize) // sorting is no part of the load
	before, began := hybrid.ReadIO(), time.Now()
	if err := s.Load(j.Entries, next); err != nil {
		return err
	}
	took := time.Since(began)
	if err := s.Close(); err != nil {
		return err
	}
	after := hybrid.ReadIO()
	if err := os.WriteFile(loadedMark(dir), nil, 0o644); err != nil {
		return err
	}
	out.emit(j.hybridSample(fmt.Sprintf("load/n=%d/value=%d", j.Entries, j.ValueSize), "ns/op", 0, int64(j.Entries), float64(took.Nanoseconds())/float64(j.Entries)))
	if after.Known {
		out.emit(j.hybridSample(fmt.Sprintf("written/load/value=%d", j.ValueSize), "bytes/byte", 0, int64(j.Entries), float64(after.Written-before.Written)/float64(j.hybridData())))
	}
	return nil
}

// loadedMark is the file beside a store that says that all of it was loaded.
func loadedMark(dir string) string { return dir + ".loaded" }

// sorted is hybrid.Pair in the order of the keys, which trees like best.
func sorted(n, valueSize int) func(i int) (key, value []byte) {
	type place struct {
		key    [keys.Size]byte
		number uint32
	}
	order := make([]place, n)
	for i := range order {
		keys.Append(order[i].key[:0], uint64(i))
		order[i].number = uint32(i)
	}
	slices.SortFunc(order, func(a, b place) int { return bytes.Compare(a.key[:], b.key[:]) })
	pair := hybrid.Pair(valueSize)
	return func(i int) ([]byte, []byte) { return pair(int(order[i].number)) }
}
