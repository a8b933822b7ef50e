//go:build linux

package stress

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/firncache/firn"
)

// worker uses the cache at random. It alone changes its keys, of those that have an owner.
type worker struct {
	p       *process
	id      uint8
	number  uint32 // of all workers of all processes
	rng     *rand.Rand
	last    int64 // the number that it has written last
	buf     []byte
	batch   firn.Batch
	records []byte
}

func newWorker(p *process, i int, seed uint64) *worker {
	number := uint32(p.Process)*workers + uint32(i)
	return &worker{p: p, id: uint8(i), number: number, rng: rand.New(rand.NewPCG(seed, uint64(number)))}
}

const owners = processes * workers

// hot is how many of n numbers most calls are for.
func hot(n uint32) uint32 {
	if n/20 < owners {
		return n
	}
	return n / 20
}

// own is one of the worker's among n numbers from first.
func (w *worker) own(first, n uint32) uint32 {
	if w.rng.IntN(4) > 0 {
		n = hot(n)
	}
	return first + w.rng.Uint32N((n-w.number+owners-1)/owners)*owners + w.number
}

// some is any of n numbers from first.
func (w *worker) some(first, n uint32) uint32 {
	if w.rng.IntN(4) > 0 {
		n = hot(n)
	}
	return first + w.rng.Uint32N(n)
}

// next is the number of a write that begins: the time.
func (w *worker) next() int64 {
	w.last = max(w.last+1, now())
	return w.last
}

// fill writes all keys that the worker alone changes.
func (w *worker) fill(ctx context.Context) {
	for key := w.number; key < setKeys; key += owners {
		w.set(ctx, key)
	}
	for key := w.number; key < loadKeys; key += owners {
		w.changeSource(firstLoad + key)
	}
	for tag := w.number; tag < tags; tag += owners {
		w.changeTag(ctx, tag)
	}
	w.flush()
}

// work goes on until the round is over.
func (w *worker) work() {
	if w.p.round == 0 {
		w.fill(context.Background())
	}
	for !w.p.stop.Load() {
		switch n := w.rng.IntN(1000); {
		case n < 500:
			w.get()
		case n < 650:
			w.lookup(w.some(0, firstTagged))
		case n < 730:
			w.getMulti()
		case n < 800:
			w.getOrLoad()
		case n < 840:
			w.getTyped()
		default:
			w.change()
		}
		if len(w.records) > 256*recordLen {
			w.flush()
		}
	}
	w.flush()
}

// change is one of the writes, of which the parent is told at once.
func (w *worker) change() {
	defer w.flush()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	switch w.rng.IntN(12) {
	case 0, 1, 2: // a value may be read while the next one is written
		for key := w.own(0, setKeys); w.rng.IntN(4) > 0; {
			w.set(ctx, key)
		}
	case 3:
		w.setMulti(ctx)
	case 4:
		w.delete(ctx)
	case 5:
		w.deleteMulti(ctx)
	case 6:
		w.touch(ctx)
	case 7, 8:
		w.compute(ctx)
	case 9:
		w.increment(ctx)
	case 10:
		w.changeSource(w.own(firstLoad, loadKeys))
	case 11:
		w.changeTag(ctx, w.own(0, tags))
	}
}

func (w *worker) flush() {
	if len(w.records) > 0 {
		w.p.tell.write(w.records)
		w.records = w.records[:0]
	}
}

func (w *worker) note(k kind, o op, key uint32, n, from int64) {
	r := record{Kind: k, Op: o, Process: w.p.Process, Worker: w.id, Key: key, Value: n, From: from, To: now()}
	w.records = r.append(w.records)
}

// found notes what a read has found.
func (w *worker) found(o op, key uint32, value []byte, ok bool, from int64) {
	if !ok {
		w.note(kindMiss, o, key, 0, from)
		return
	}
	n, err := numberOf(key, value)
	if err != nil {
		w.p.fail(err)
	}
	w.note(kindRead, o, key, n, from)
}

// get reads a few: most reads of a cache are of this kind.
func (w *worker) get() {
	for range 8 {
		key, from := w.some(0, firstTagged), now()
		value, ok := w.p.cache.Get(w.buf[:0], keyOf(key))
		w.found(opGet, key, value, ok, from)
		w.buf = value
	}
}

func (w *worker) lookup(key uint32) {
	from := now()
	value, err := w.p.cache.Lookup(context.Background(), w.buf[:0], keyOf(key))
	w.mustBeKnown("Lookup", err)
	w.found(opLookup, key, value, err == nil, from)
}

func (w *worker) getMulti() {
	var numbers []uint32
	var keys [][]byte
	for range 16 {
		key := w.some(0, firstTagged)
		numbers, keys = append(numbers, key), append(keys, keyOf(key))
	}
	from := now()
	w.p.cache.GetMulti(context.Background(), &w.batch, keys)
	for i, key := range numbers {
		value, ok := w.batch.Value(i)
		w.found(opGetMulti, key, value, ok, from)
	}
}

var errNothing = errors.New("the source has nothing yet")

func (w *worker) getOrLoad() {
	key, from := w.some(firstLoad, loadKeys), now()
	value, err := w.p.cache.GetOrLoad(context.Background(), nil, keyOf(key), func(context.Context, []byte) ([]byte, error) {
		return w.p.source.value(key)
	})
	w.mustBeKnown("GetOrLoad", err)
	w.found(opGetOrLoad, key, value, err == nil, from)
}

func (w *worker) getTyped() {
	key, from := w.some(firstTagged, tagKeys), now()
	value, err := w.p.typed.GetOrLoad(context.Background(), key, func(ctx context.Context, _ uint32) ([]byte, error) {
		if err := firn.SetLoadTags(ctx, tagOf(key)); err != nil {
			return nil, err
		}
		return w.p.source.value(key)
	})
	w.mustBeKnown("GetOrLoad", err)
	w.found(opTyped, key, value, err == nil, from)
}

// mustBeKnown ends the process at an error that no fault explains.
func (w *worker) mustBeKnown(call string, err error) {
	for _, known := range []error{nil, errNothing, firn.ErrNotFound, firn.ErrSharedUnavailable, context.DeadlineExceeded} {
		if errors.Is(err, known) {
			return
		}
	}
	w.p.fail(errors.Join(errors.New(call), err))
}
