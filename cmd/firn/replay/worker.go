package replay

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/firncache/firn/internal/workload"
)

// tally is the result of the requests.
type tally struct {
	hits, misses, writes, rejected, wrong int64
	bytes, hitBytes                       int64 // of reads whose size the workload tells
	setBytes                              int64 // keys and values set
}

func (t *tally) add(u tally) {
	t.hits += u.hits
	t.misses += u.misses
	t.writes += u.writes
	t.rejected += u.rejected
	t.wrong += u.wrong
	t.bytes += u.bytes
	t.hitBytes += u.hitBytes
	t.setBytes += u.setBytes
}

// Latencies are recorded up to longest, to three digits. One request in
// meanGap, on average, is timed.
const (
	longest = time.Minute
	meanGap = 16
)

// worker replays requests for one goroutine.
type worker struct {
	store   Store
	cfg     *Config
	tally   tally
	latency *hdrhistogram.Histogram
	rng     *rand.Rand
	gap     int // requests until the next that is timed

	key, read, value []byte // buffers
}

func newWorker(cfg *Config, store Store, number int) *worker {
	w := &worker{
		store: store, cfg: cfg,
		latency: hdrhistogram.New(1, int64(longest), 3),
		rng:     rand.New(rand.NewPCG(cfg.Seed, uint64(number))),
		value:   make([]byte, 64<<10),
	}
	fill(w.value, w.rng, cfg.Regular)
	w.gap = w.nextGap()
	return w
}

// fill makes random bytes; regular ones are zeros half of the time, 32 in a row.
func fill(b []byte, rng *rand.Rand, regular bool) {
	for i := range b {
		if b[i] = byte(rng.Uint32()); regular && i&32 != 0 {
			b[i] = 0
		}
	}
}

// nextGap is random so that a periodic workload is not sampled in step.
func (w *worker) nextGap() int { return 1 + w.rng.IntN(2*meanGap-1) }

// replay sends requests to the store, in order.
func (w *worker) replay(requests []workload.Request) error {
	for i := range requests {
		w.gap--
		if w.gap > 0 {
			if err := w.send(&requests[i]); err != nil {
				return err
			}
			continue
		}
		w.gap = w.nextGap()
		start := time.Now()
		if err := w.send(&requests[i]); err != nil {
			return err
		}
		took := min(max(time.Since(start), 1), longest)
		if err := w.latency.RecordValue(int64(took)); err != nil {
			return fmt.Errorf("latency %v: %w", took, err)
		}
	}
	return nil
}

// send makes one request: a read and, after a miss, a write; or a write.
func (w *worker) send(r *workload.Request) error {
	w.key = workload.AppendKey(w.key[:0], r.Key)
	if r.Write {
		w.tally.writes++
		return w.set(r)
	}
	w.tally.bytes += int64(r.Size)
	value, ok := w.store.Get(w.read[:0], w.key)
	w.read = value
	if !ok {
		w.tally.misses++
		return w.set(r)
	}
	w.tally.hits++
	w.tally.hitBytes += int64(r.Size)
	if !isValueOf(value, r.Key) {
		w.tally.wrong++
	}
	return nil
}

// set writes the value of r. One larger than the whole budget is not even made.
func (w *worker) set(r *workload.Request) error {
	size := int(r.Size)
	if size == 0 {
		size = int(w.cfg.ValueSize)
	}
	if int64(size) > w.cfg.Store.RAMBytes {
		w.tally.rejected++
		return nil
	}
	if size > len(w.value) {
		w.value = append(w.value, make([]byte, size-len(w.value))...)
	}
	ttl := time.Duration(r.TTL) * time.Second
	if ttl == 0 {
		ttl = w.cfg.Store.TTL
	}
	value := w.value[:size]
	stampValue(value, r.Key)
	err := w.store.Set(w.key, value, ttl)
	if errors.Is(err, ErrTooLarge) {
		w.tally.rejected++
		return nil
	}
	if err != nil {
		return fmt.Errorf("set of %d bytes: %w", size, err)
	}
	w.tally.setBytes += int64(len(w.key) + size)
	return nil
}
