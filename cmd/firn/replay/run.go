package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/firncache/firn/internal/workload"
)

// Config says how to replay a workload.
type Config struct {
	Store     StoreOptions
	ValueSize uint32    // bytes of the values whose size the workload does not tell
	Seed      uint64    // of the choice of timed requests
	Regular   bool      // values can be compressed to about half; otherwise not at all
	Progress  *Progress // updated while the run goes on; nil: none
}

// ErrOpen says that the store refused its options; ErrWrongValue that it
// returned a value that was not set for the key. ErrTimeUp is the cause of a
// context that ends a run at its time limit.
var (
	ErrOpen       = errors.New("opening the cache")
	ErrTimeUp     = errors.New("the time is up")
	ErrWrongValue = errors.New("wrong values")
)

const (
	windowRequests = 1 << 18 // requests read ahead while the clock is stopped
	chunkRequests  = 64      // requests a goroutine takes at a time
)

// Run opens a store, replays src through it until src or ctx ends, and closes
// both. The names in the result are the caller's to fill
// in. With an error of the source, the store, or the check of values it returns
// the figures up to there. The end of ctx is no error: the result says what share
// of src was replayed, and unless the cause was ErrTimeUp that the run was
// interrupted.
func Run(ctx context.Context, cfg Config, src workload.Source, open OpenFunc) (Result, error) {
	if cfg.Progress == nil {
		cfg.Progress = new(Progress)
	}
	r := &run{cfg: cfg, src: src, buf: make([]workload.Request, windowRequests)}
	r.fill() // so that the window counts among the memory before the store
	debug.FreeOSMemory()
	rssBefore, gcBefore := residentBytes(), readCollector()

	store, err := open(cfg.Store)
	if err != nil {
		return Result{}, errors.Join(fmt.Errorf("%w: %w", ErrOpen, err), src.Close())
	}
	for i := range max(cfg.Store.Goroutines, 1) {
		r.workers = append(r.workers, newWorker(&r.cfg, store, i))
	}
	err = r.all(ctx)
	result := r.result(ctx)
	gc := readCollector()
	result.GCCycles = gc.cycles - gcBefore.cycles
	if cpu := r.elapsed.Seconds() * float64(runtime.GOMAXPROCS(0)); cpu > 0 {
		result.GCCPUFraction = (gc.cpuSeconds - gcBefore.cpuSeconds) / cpu
	}
	stats := store.Stats()
	result.Evictions, result.Expired, result.CacheBytes = known(stats.Evictions), known(stats.Expired), known(stats.Bytes)
	result.Curve = stats.Curve
	result.adviseRejected()
	if result.SSD = stats.SSD; result.SSD != nil {
		result.SSD.derive(&result, r.total())
	}

	err = errors.Join(err, src.Close())
	debug.FreeOSMemory()
	result.RSSBefore, result.RSSBytes, result.RSSPeak = known(rssBefore), known(residentBytes()), known(r.peak)
	runtime.KeepAlive(r)
	return result, errors.Join(err, store.Close())
}

// run is a workload on its way through a store.
type run struct {
	cfg     Config
	src     workload.Source
	workers []*worker
	elapsed time.Duration // with the clock running
	peak    int64         // highest resident memory at the end of a window

	buf    []workload.Request
	window []workload.Request // the part of buf that is filled
	ended  error              // why there is nothing behind the window
}

// fill reads the next window from the source.
func (r *run) fill() {
	n := 0
	for n < len(r.buf) && r.ended == nil {
		var got int
		got, r.ended = r.src.Read(r.buf[n:])
		n += got
	}
	r.window = r.buf[:n]
	r.cfg.Progress.window(n, r.src.Done())
}

// all replays window after window.
func (r *run) all(ctx context.Context) error {
	for len(r.window) > 0 && ctx.Err() == nil {
		start := time.Now()
		err := r.replayWindow(ctx)
		r.elapsed += time.Since(start)
		r.peak = max(r.peak, residentBytes())
		if err != nil {
			return err
		}
		if ctx.Err() == nil {
			r.fill()
		}
	}
	if r.ended != nil && !errors.Is(r.ended, io.EOF) {
		return r.ended
	}
	return r.checkValues()
}

// replayWindow shares the window out among the workers. The first error of any
// of them stops all.
func (r *run) replayWindow(parent context.Context) error {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	var next atomic.Int64
	var wg sync.WaitGroup
	for _, w := range r.workers {
		wg.Go(func() {
			for ctx.Err() == nil {
				end := int(next.Add(chunkRequests))
				begin := end - chunkRequests
				if begin >= len(r.window) {
					return
				}
				chunk := r.window[begin:min(end, len(r.window))]
				if err := w.replay(chunk); err != nil {
					cancel(err)
					return
				}
				r.cfg.Progress.requests.Add(int64(len(chunk)))
			}
		})
	}
	wg.Wait()
	if err := context.Cause(ctx); err != nil && parent.Err() == nil {
		return err
	}
	return nil
}

func (r *run) checkValues() error {
	if total := r.total(); total.wrong > 0 {
		return fmt.Errorf("%w: %d of %d hits", ErrWrongValue, total.wrong, total.hits)
	}
	return nil
}

func (r *run) total() (total tally) {
	for _, w := range r.workers {
		total.add(w.tally)
	}
	return total
}

// result sums up the workers.
func (r *run) result(ctx context.Context) Result {
	total := r.total()
	latency := hdrhistogram.New(1, int64(longest), 3)
	for _, w := range r.workers {
		latency.Merge(w.latency)
	}
	result := Result{
		RAMBytes: r.cfg.Store.RAMBytes, Goroutines: len(r.workers),
		P50:         latency.ValueAtQuantile(50),
		P99:         latency.ValueAtQuantile(99),
		P999:        latency.ValueAtQuantile(99.9),
		ShareDone:   r.cfg.Progress.Share(),
		Interrupted: ctx.Err() != nil && !errors.Is(context.Cause(ctx), ErrTimeUp),
	}
	result.derive(r.elapsed, total)
	return result
}
