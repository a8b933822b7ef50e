package browsertest

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/firncache/firn"
)

// workload is what a program asks of a cache in each second.
type workload struct {
	keys     uint64        // by Zipf's law
	requests int           // a second, about: more by day than by night, which are minutes here
	bytes    int           // of a value, on average
	source   time.Duration // that a load takes, on average; 0: nothing
}

// work sends the requests of a workload, the same ones in every run.
type work struct {
	workload
	cache *firn.Cache
	rng   *rand.Rand
	zipf  *rand.Zipf
	value []byte
	scan  uint64 // next key of the scan, all of which are asked for once
}

func newWork(cache *firn.Cache, l workload, seed uint64) *work {
	rng := rand.New(rand.NewPCG(seed, 16))
	w := &work{workload: l, cache: cache, rng: rng, zipf: rand.NewZipf(rng, 1.08, 20, l.keys-1), value: make([]byte, 4*l.bytes)}
	for i := range w.value {
		w.value[i] = byte(rng.Uint32())
	}
	return w
}

var errSource = errors.New("the source is busy")

// loaders is how many requests run at once.
const loaders = 32

// second sends the requests of one second, which is since the begin.
func (w *work) second(since time.Duration) error {
	ids := make(chan uint64, 64)
	var wg sync.WaitGroup
	for range loaders {
		wg.Go(func() {
			var buf []byte
			for id := range ids {
				buf, _ = w.cache.GetOrLoad(context.Background(), buf[:0], key(id), w.load)
			}
		})
	}
	minutes := since.Minutes()
	n := int(float64(w.requests) * (1 + 0.35*math.Sin(minutes/1.9) + 0.1*w.rng.Float64()))
	for i := range n {
		id := w.zipf.Uint64()
		if scanning := math.Mod(minutes, 6) > 4.5; scanning && i%8 == 0 {
			w.scan++
			id = 1<<40 + w.scan
		}
		ids <- id
	}
	close(ids)
	wg.Wait()
	return w.write(n)
}

// write changes and removes a few of the keys that are asked for, for n requests.
func (w *work) write(n int) error {
	for range n / 50 {
		id := w.zipf.Uint64()
		if err := w.cache.Set(key(id), w.valueOf(id)); err != nil {
			return err
		}
	}
	for range n / 200 {
		if err := w.cache.Delete(key(w.zipf.Uint64())); err != nil {
			return err
		}
	}
	return nil
}

// load is the source: slow, and busy at times.
func (w *work) load(_ context.Context, k []byte) ([]byte, error) {
	id := binary.BigEndian.Uint64(k[len(k)-8:])
	if w.source > 0 {
		time.Sleep(w.source/2 + w.source*time.Duration(id%7)/6)
	}
	if id%997 == 0 {
		return nil, errSource
	}
	return w.valueOf(id), nil
}

// valueOf is the value of a key: of few bytes for most, of four times the mean for some.
func (w *work) valueOf(id uint64) []byte {
	n := w.bytes / 2
	switch id % 8 {
	case 0:
		n = 3 * w.bytes
	case 1, 2:
		n = w.bytes
	}
	return w.value[:n+int(id%64)]
}

func key(id uint64) []byte { return binary.BigEndian.AppendUint64([]byte("product:"), id) }
