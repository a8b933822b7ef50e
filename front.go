package firn

import (
	"context"
	"encoding/binary"
	"hash/maphash"
	"sync"
	"sync/atomic"

	"github.com/firncache/firn/internal/offheap"
)

// Front is a small cache of decoded values on the Go heap, above the bytes: what
// is found there is neither copied nor decoded. Package firn/front has one.
//
// It need not keep what it was given, but once Delete has returned, Get does
// not find what was there before. All methods may be called at once; they must
// not call the Cache.
type Front[K comparable, V any] interface {
	Get(key K) *FrontEntry[V] // nil without one
	Set(key K, entry *FrontEntry[V])
	Delete(key K)
}

// FrontEntry is a value in a Front, with what tells whether it still holds.
type FrontEntry[V any] struct {
	frontHead
	value V
}

// frontHead tells whether an entry still holds.
type frontHead struct {
	epoch    *epoch // that was current before the bytes were read
	deadline int64  // milliseconds, 0 for never
}

// inTime reports whether the deadline is to come.
func (h *frontHead) inTime(c *Cache) bool { return h.deadline == 0 || !c.store.Passed(h.deadline) }

// # Coherence
//
// A read that finds a value in a front must return what a read of the bytes
// would, or could have before they were evicted. So the front is emptied of a
// key before its bytes change, and filled only with bytes that did not change
// meanwhile. Every key belongs to a frontStripe, of which state is a counter of
// writes.
//
// A write of a key, whoever makes it (Set, Delete, SetMulti, a load that stores
// its value):
//
//  1. under the stripe's lock: counts itself in, and deletes the key from the
//     fronts of its namespace (begin);
//  2. changes the bytes;
//  3. counts itself out (end), and returns to its caller.
//
// A read that finds nothing in the front:
//
//  1. loads the state; if a write is under way, it will not fill the front;
//  2. reads the bytes, and the deadline, and decodes;
//  3. under the stripe's lock: if the state is the same, puts the value there.
//
// So a front holds a key only from a moment at which no write of it was under
// way until the next one begins: if the read's step 3 comes first, the write's
// step 1 deletes the value; if it comes later, the state has changed. In that
// time the bytes are what was read, or gone. A hit therefore returns what the
// bytes held at that moment, which makes it linearizable together with reads
// and writes of the bytes. What it does not follow is eviction: a front may still
// have the last value of a key that RAM has lost.
//
// Clear of a namespace, Cache.Clear and Close make another epoch the current
// one, the last two with all stripes counted in: what a front holds refers to the
// epoch that was current before its bytes were read, and is worth nothing under
// another. Expired entries are recognized by their deadline.
//
// Where a first front is attached while writes are under way, those did not
// count themselves in; they look again before they return, and delete then what
// the front may have taken meanwhile. So no read that begins after such a write
// has returned finds an older value either.

// frontStripes is how many stripes there are. Two keys of one stripe only keep
// each other from being filled in.
const frontStripes = 256

// frontStripe guards the fronts' entries of the keys that hash to it.
type frontStripe struct {
	mu    sync.Mutex    // held while an entry is put into a front or deleted
	state atomic.Uint64 // writes begun, times writeBegun; plus writes under way
	_     [48]byte
}

const (
	writesUnderWay = 1<<20 - 1
	writeBegun     = 1 << 20
)

// begin counts a write in. The caller holds mu.
func (s *frontStripe) begin() { s.state.Add(writeBegun + 1) }

// end counts a write out.
func (s *frontStripe) end() { s.state.Add(^uint64(0)) }

// fronts are those of the typed caches on a cache.
type fronts struct {
	attached atomic.Pointer[attached] // nil without any
	mu       sync.Mutex               // held while it is replaced
}

// attached is what there is, once a front was attached. It is replaced as a
// whole when another is, but for the stripes and counters.
type attached struct {
	seed    maphash.Seed
	stripes *[frontStripes]frontStripe
	hits    *hitCounter
	spaces  []frontedSpace
}

// frontedSpace is a namespace with fronts. Each drop deletes a key, given as
// bytes without the epoch, from one of them.
type frontedSpace struct {
	space *namespace
	drops []func(key []byte)
}

// attach makes a front known. It stays known as long as the cache is.
func (f *fronts) attach(s *namespace, drop func(key []byte)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	next := &attached{seed: maphash.MakeSeed(), stripes: new([frontStripes]frontStripe), hits: new(hitCounter)}
	if old := f.attached.Load(); old != nil {
		*next = *old
		next.spaces = nil
		for _, fs := range old.spaces {
			if fs.space == s {
				drops := append([]func([]byte){drop}, fs.drops...)
				fs, drop = frontedSpace{s, drops}, nil
			}
			next.spaces = append(next.spaces, fs)
		}
	}
	if drop != nil {
		next.spaces = append(next.spaces, frontedSpace{s, []func([]byte){drop}})
	}
	f.attached.Store(next)
}

func (a *attached) stripe(key []byte) *frontStripe {
	return &a.stripes[maphash.Bytes(a.seed, key)%frontStripes]
}

// BeforeWrite is called before the bytes of a key change, and AfterWrite, with what
// BeforeWrite returned, after it and before the write is acknowledged. A write that
// panics in between, in the user's OnEvict, leaves a stripe that is not filled any
// more, which is slow and right.
func (f *fronts) BeforeWrite(key []byte) (token any) {
	if a := f.attached.Load(); a != nil {
		return f.beginIn(a.stripe(key), key)
	}
	return nil
}

func (f *fronts) AfterWrite(key []byte, token any) {
	s, _ := token.(*frontStripe)
	if s == nil {
		a := f.attached.Load()
		if a == nil {
			return
		}
		s = f.beginIn(a.stripe(key), key) // a front was attached since begin
	}
	s.end()
}

// beginIn counts a write in, and deletes its key from the fronts.
func (f *fronts) beginIn(s *frontStripe, key []byte) *frontStripe {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begin()
	if len(key) < epochLen {
		return s
	}
	number := binary.LittleEndian.Uint64(key)
	// Under the lock, lest a front be left out that was attached, and filled, since
	// the caller looked.
	for _, fs := range f.attached.Load().spaces {
		if fs.space.current.Load().number != number {
			continue
		}
		for _, drop := range fs.drops {
			drop(key[epochLen:])
		}
	}
	return s
}

// Clear calls clear, which empties the cache, with every front emptied before
// and not filled meanwhile. With forever, it is not filled afterwards either.
func (f *fronts) Clear(forever bool, clear func()) {
	a := f.attached.Load()
	if a == nil {
		clear()
		f.renew() // of fronts that were attached meanwhile
		return
	}
	for i := range a.stripes {
		s := &a.stripes[i]
		s.mu.Lock()
		s.begin()
		s.mu.Unlock()
	}
	f.renew()
	clear()
	if !forever {
		for i := range a.stripes {
			a.stripes[i].end()
		}
	}
}

// renew makes what all fronts hold worthless.
func (f *fronts) renew() {
	if a := f.attached.Load(); a != nil {
		for i := range a.spaces {
			a.spaces[i].space.renew()
		}
	}
}

// attachFront gives a typed cache its front.
func (t *Typed[K, V]) attachFront(front Front[K, V]) {
	f := &t.c.typed.fronts
	t.c.store.SetWriteHook(f)
	f.attach(t.space, func(key []byte) {
		if k, err := t.keys.parse(key); err == nil {
			front.Delete(k)
		}
	})
	t.front, t.hits = front, f.attached.Load().hits
}

// getFront is Get of the front alone, without counting.
func (t *Typed[K, V]) getFront(key K) *FrontEntry[V] {
	if t.front != nil {
		if e := t.front.Get(key); e != nil && e.epoch == t.space.current.Load() && e.inTime(t.c) {
			return e
		}
	}
	return nil
}

// count counts a hit. Now and then it says that the bytes are to be read too,
// lest RAM take a key for unpopular that is only read above it.
func (h *hitCounter) count() (readAgain bool) {
	s := &h[offheap.Stripe()%hitStripes]
	n := s.hits.Load() + 1
	offheap.StoreRelease64(&s.hits, n)
	return n%readAgainEvery == 0
}

// hitCounter counts front hits, as internal/ram counts reads: without an atomic
// operation, and so a little low if many goroutines share a stripe.
type hitCounter [hitStripes]hitStripe

type hitStripe struct {
	hits atomic.Uint64
	_    [56]byte
}

const (
	hitStripes     = 64
	readAgainEvery = 512
)

// frontHits is their sum.
func (f *fronts) frontHits() (n uint64) {
	if a := f.attached.Load(); a != nil {
		for i := range a.hits {
			n += a.hits[i].hits.Load()
		}
	}
	return n
}

// readFill is read that puts what it found into the front.
func (t *Typed[K, V]) readFill(ctx context.Context, s *scratch[K]) (v V, err error) {
	e := t.space.current.Load()
	if err = t.encodeKeyIn(s, e); err != nil {
		return v, err
	}
	stripe := t.c.typed.fronts.attached.Load().stripe(s.key)
	state := stripe.state.Load()
	deadline, ok, err := t.fetchDeadline(ctx, s)
	if err != nil {
		return v, err
	}
	if v, err = t.decode(s.key, s.value); err != nil || !ok || state&writesUnderWay != 0 {
		return v, err
	}
	stripe.mu.Lock()
	defer stripe.mu.Unlock()
	if stripe.state.Load() == state {
		t.front.Set(s.k, &FrontEntry[V]{frontHead{e, deadline}, v})
	}
	return v, nil
}

// fetchDeadline is fetch that also tells the deadline, if it is still known when
// the bytes have come from below.
func (t *Typed[K, V]) fetchDeadline(ctx context.Context, s *scratch[K]) (deadline int64, ok bool, err error) {
	if ctx == nil {
		ctx = context.Background()
	}
	s.value, deadline, ok, err = t.c.store.LookupDeadline(ctx, s.value[:0], s.key)
	if err == nil && !ok {
		deadline, ok = t.c.store.Deadline(s.key)
	}
	return deadline, ok, err
}
