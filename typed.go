package firn

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firncache/firn/internal/codec"
	"github.com/firncache/firn/internal/coherence"
	"github.com/firncache/firn/internal/load"
	"github.com/firncache/firn/internal/ram"
	"github.com/firncache/firn/internal/typed"
)

// TypedOptions say how a typed cache stores its keys and values. The zero
// TypedOptions are usable.
type TypedOptions[K comparable, V any] struct {
	// Codec turns values into bytes. Default: DefaultCodec.
	Codec Codec[V]

	// KeyCodec turns keys into bytes: equal keys into equal bytes. It must not use the cache.
	// Default: integers, strings and arrays of bytes as they are; types with AppendBinary with it;
	// other numbers, bools, structs and arrays part by part, where NaN is an error of the call.
	// Keys with pointers, interfaces or channels need a codec.
	KeyCodec Codec[K]

	// TTL is how long values live that Set and loads store; Forever for those that never expire.
	// With ExpireAfterAccess it is the most that they live. Default: Options.TTL.
	TTL time.Duration

	// ExpireAfterAccess makes values expire when they have not been read for so long, as
	// Options.ExpireAfterAccess, and at the latest when TTL, which must be more, is over since the
	// Set or the load: a session may be idle for 20 minutes, and lasts 8 hours at most. A value
	// takes 12 bytes more then. All open typed caches of the namespace must have the same.
	// Default: Options.ExpireAfterAccess, unless TTL is set.
	ExpireAfterAccess time.Duration

	// Loading is Options.Loading of this Typed alone, in place of that: all fields count, so that
	// one left out is off. MaxLoads is a limit of its own. Expired entries of all namespaces are
	// kept for as long as the longest StaleIfError or StaleWhileRevalidate says: no call finds one
	// for longer than its own options say, but OnEvict hears of it as late. Default:
	// Options.Loading.
	Loading LoadingOptions

	// HotValues is how many decoded values of keys that are read often are kept above the bytes,
	// on the Go heap: a Get of one costs neither copy nor codec. They are never older than the
	// bytes, expired or cleared, but one may be of a key that RAM has evicted. They are part of
	// RAMBytes, by estimate: at most a quarter for all typed caches of a Cache, a 32nd once RAM is
	// full. The estimate is a value's bytes, or the length of a string or slice: a struct with many
	// empty strings, or one that Codec compresses, takes more. All who get a value share it: its
	// type must consist of numbers, bools, strings, time.Time and addresses of net/netip, alone or
	// in structs and arrays, unless ReadOnly is set; and keys must need neither AppendBinary nor a
	// codec. Default: as many as the memory allows, in 16 typed caches of a Cache, for strings,
	// structs and arrays of these that meet this, or with ReadOnly; without Codec; otherwise none.
	// Negative: none.
	HotValues int

	// ReadOnly says that no caller changes the data that a value from the cache
	// refers to, nor what a Codec made it of: values of any type may be hot.
	ReadOnly bool

	// MaxBytes is the most, in bytes, that the namespace's entries may take in RAM: the Bytes of
	// its Stats, which are those of the records, without their places in the index and hot values.
	// Above it entries of the namespace leave, for CauseQuota, also while there is room: a flood
	// in one namespace takes nothing from others. Writes of many goroutines may exceed it by a
	// thirty-second and an entry each; a larger value is ErrTooLarge. What was cleared counts, and
	// leaves first. What leaves for it goes to the SSD if it was read, of which the namespace has
	// the same part as of RAMBytes at Open: above that its oldest entries leave, and others are
	// not written; what was written before NewTyped is estimated. It is no reservation.
	// NewTyped waits for the SSD as a Set does. All open typed caches of the namespace must have the
	// same, 4 KiB to RAMBytes. Default: 0, no quota.
	MaxBytes int64

	// Version is of the meaning of the values, when it changes and their type
	// does not: values of another version are not found. Default: 0.
	Version int

	// OnEvict is called for every entry of the namespace that leaves the Cache, as
	// Options.OnEvict, and beside it, with key and value as they were set; until Close, also if
	// the Typed is forgotten: make the Typed once. It is not called for entries that Clear has
	// removed, nor for those whose key or value cannot be decoded. Keys that are stored with
	// AppendBinary need UnmarshalBinary. Default: nil.
	OnEvict func(key K, value V, cause Cause)

	// OnEvictCauses are the causes for which OnEvict is called, as in Options.
	OnEvictCauses []Cause
}

// Typed is a cache of values of type V under keys of type K. It keeps them in a Cache, as bytes.
// All methods are safe for concurrent use.
//
// With a value's bytes it stores their meaning: the codec's name, the types of key and value, down
// to the names, types and tags of struct fields, and TypedOptions.Version. Where any of it
// differs, or the codec cannot read the bytes, the value is not found, its entry is deleted, and
// Stats counts it in Mismatches or DecodeErrors: a struct that gained a field finds none of its
// old values, and loads them once more. With a shared tier the entry stays; versions of a program
// that are both to stay warm need namespaces of two names.
//
// Get and Set cost those of Cache, the codec, and about 25 ns, and allocate what the codec does.
// An entry takes 12 bytes more than key and value.
type Typed[K comparable, V any] struct {
	cfg    *typedConfig[K, V]
	space  *typed.Namespace
	hot    atomic.Pointer[hotTable[K, V]] // nil until the first read, and without
	closed atomic.Bool
}

// typedConfig is what follows from the types and the options. Typed caches of one Cache and the
// same types share it if their options say nothing.
type typedConfig[K comparable, V any] struct {
	c           *Cache
	shape       *typed.Shape
	keys        typed.Keys[K]
	codec       Codec[V]
	fingerprint codec.Fingerprint // of the bytes that codec writes
	takes       bool              // codec can take bytes over
	number      bool              // codec writes its bits
	loads       *load.Group       // the Cache's, or one of its options
	atMost      int64             // how long a value lives whose deadline slides, in milliseconds; 0: for ever
	slideLead   int64             // how long before its deadline a read moves it, in milliseconds; 0: none does
	hotValues   int               // that there may be; hotByBudget: as many as the memory allows
	measures    bool              // a value may be longer than its bytes: see mayOutgrow
	fills       bool              // a read looks at more than the value's bytes
	hotMu       sync.Mutex        // held while a hot table is made or ended; nothing calls the user under it
	scratch     *sync.Pool        // of *scratch[K], that of all typed caches with such keys
	stopEvents  func()            // ends OnEvict; nil without it
}

// scratch is the heap memory of a call.
type scratch[K comparable] struct {
	k     K
	key   []byte // number of the generation, then the bytes of k
	value []byte // fingerprint, then the bytes of a value
	taken bool   // value is part of what was returned

	in       *coherence.Generation // of key
	addition ram.Addition
}

// scratchPools are the pools of scratch, by type.
var scratchPools sync.Map

// scratchPool is the pool of scratch[K]. A pool for each typed cache would take 128 bytes
// for each processor.
func scratchPool[K comparable]() *sync.Pool {
	t := reflect.TypeFor[scratch[K]]()
	if p, ok := scratchPools.Load(t); ok {
		return p.(*sync.Pool)
	}
	p, _ := scratchPools.LoadOrStore(t, &sync.Pool{New: func() any { return new(scratch[K]) }})
	return p.(*sync.Pool)
}

const (
	// maxScratch is the largest buffer that is kept for later calls.
	maxScratch = 1 << 20
	// maxNamespace is the longest name of a namespace.
	maxNamespace = 255
)

// NewTyped makes a typed cache on c, in a namespace of 1 to 255 bytes, which keeps its entries
// apart from those of others that share c. Typed caches of one namespace and type of keys share its
// entries, those of later runs of the program included; a UserID and an OrderID of the same bits
// are apart, Go's own integers of one size are not. While one is open, a second with another type,
// codec or version of the values is an error. It may be made again, closed or forgotten at any
// time: the entries are in c. It fails if K cannot be a key or V has no codec, with an error that
// names the type, and with ErrClosed. It waits for nothing.
//
// A Clear of one may lose entries of others whose names hash to the same place: one in 262,144 with
// 1 GiB of RAMBytes.
func NewTyped[K comparable, V any](c *Cache, namespace string, opts TypedOptions[K, V]) (*Typed[K, V], error) {
	cfg, err := opts.config(c, namespace)
	if err != nil {
		return nil, err
	}
	if err := opts.validateMaxBytes(c); err != nil && !c.typed.spaces.HaveQuota(cfg.shape, namespace, opts.MaxBytes) {
		return nil, newTypedError(namespace, err)
	}
	if n := len(namespace); n == 0 || n > maxNamespace {
		return nil, fmt.Errorf("firn: NewTyped: the namespace's name has %d bytes: want 1 to %d", n, maxNamespace)
	}
	t := &Typed[K, V]{cfg: cfg}
	listener, err := t.listener(&opts)
	if err != nil {
		return nil, err
	}
	terms := typed.Terms{MaxBytes: opts.MaxBytes, ExpireAfterAccess: t.cfg.loads.Config().Idle}
	if t.space, err = c.typed.spaces.Open(&c.store, namespace, t.cfg.shape, terms); err != nil {
		return nil, newTypedError(namespace, err)
	}
	if q := t.space.Quota(); q != nil {
		c.store.HoldQuota(q)
	}
	if c.store.Recovered() || c.store.Numbers() != nil {
		c.useTags()
	}
	if listener != nil { // of options: the config is this Typed's alone
		t.cfg.stopEvents = c.listeners.listen(&c.store, listener)
	}
	return t, nil
}

// New is a typed cache on a Cache of its own, with Options.RAMBytes and no other option. When it
// is forgotten, the collector frees both.
func New[K comparable, V any](ramBytes int64) (*Typed[K, V], error) {
	c, err := Open(Options{RAMBytes: ramBytes})
	if err != nil {
		return nil, err
	}
	return NewTyped(c, "firn.New", TypedOptions[K, V]{})
}

func newTypedError(namespace string, err error) error {
	return fmt.Errorf("firn: NewTyped %q: %w", namespace, err)
}

// Get returns the value of key. Without one, or with one that cannot be read,
// it returns false.
func (t *Typed[K, V]) Get(key K) (V, bool) {
	if e := t.getHot(key); e != nil {
		if t.hot.Load().hits.Count() {
			t.readAgain(key)
		}
		return e.value, true
	}
	return t.getBytes(key)
}

// getBytes is Get past the hot values. It is read, but for rare cases, in
// few calls.
func (t *Typed[K, V]) getBytes(key K) (v V, ok bool) {
	s := t.acquire()
	s.k = key
	if t.cfg.fills {
		v, err := t.read(context.Background(), s)
		t.release(s)
		return v, err == nil
	}
	if t.encodeKey(context.Background(), s) != nil {
		t.release(s)
		return v, false
	}
	if s.value, ok = t.cfg.c.Get(t.room(s), s.key); ok {
		payload, ours := t.cfg.fingerprint.Cut(s.value)
		var err error
		if ours = ours && !(t.cfg.takes && cap(s.value) > takeFrom); ours {
			v, err = t.cfg.codec.Decode(payload)
		}
		if !ours || err != nil {
			v, err = t.decodeRead(context.Background(), s) // takes it over, or counts and deletes it
			ok = err == nil
		}
	}
	t.space.Counters.Read(ok)
	t.release(s)
	return v, ok
}

// Lookup is Get with a context and with errors: those of Cache.Lookup, and
// ErrNotFound for a value that cannot be read, wrapped with the reason.
func (t *Typed[K, V]) Lookup(ctx context.Context, key K) (V, error) {
	if e := t.getHotFor(ctx, key); e != nil {
		if t.hot.Load().hits.Count() {
			t.readAgain(key)
		}
		return e.value, nil
	}
	s := t.acquire()
	defer t.release(s)
	s.k = key
	return t.read(ctx, s)
}

// read looks up s.k past the hot values, and decodes its value.
func (t *Typed[K, V]) read(ctx context.Context, s *scratch[K]) (v V, err error) {
	if t.cfg.fills {
		v, _, err = t.readFill(ctx, s)
		return v, err
	}
	if err = t.encodeKey(ctx, s); err != nil {
		return v, err
	}
	if s.value, err = t.cfg.c.Lookup(ctx, t.room(s), s.key); err == nil {
		v, err = t.decodeRead(ctx, s)
	}
	t.space.Counters.Read(err == nil)
	return v, err
}

// takeFrom is the least memory that a value takes over instead of a copy: a shorter one costs
// less to copy out of the scratch than to find again.
const takeFrom = 1 << 10

// room is where the bytes of a value are read to. Those of a codec whose values can be the bytes
// themselves lie in memory of their own if they are longer than takeFrom.
func (t *Typed[K, V]) room(s *scratch[K]) []byte {
	if !t.cfg.takes {
		return s.value[:0]
	}
	return s.value[:0:min(cap(s.value), takeFrom)]
}

// decode makes a value of the bytes that were found under key.
func (t *Typed[K, V]) decode(ctx context.Context, key, stored []byte) (v V, err error) {
	payload, err := t.check(ctx, key, stored)
	if err != nil {
		return v, err
	}
	return t.decodePayload(ctx, key, stored, payload, false)
}

// decodeRead is decode of s.value, which was read to room.
func (t *Typed[K, V]) decodeRead(ctx context.Context, s *scratch[K]) (v V, err error) {
	payload, err := t.check(ctx, s.key, s.value)
	if err != nil {
		return v, err
	}
	return t.takePayload(ctx, s, payload, false)
}

// decodeLoaded is decodeRead of what a load gave its caller, who came by it so.
func (t *Typed[K, V]) decodeLoaded(ctx context.Context, s *scratch[K], came load.Outcome) (v V, err error) {
	payload, err := t.checkLoaded(ctx, s.key, s.value, came)
	if err != nil {
		return v, err
	}
	return t.takePayload(ctx, s, payload, true)
}

// decodeOwn is decodeLoaded of what the caller's loader has returned.
func (t *Typed[K, V]) decodeOwn(ctx context.Context, s *scratch[K]) (v V, err error) {
	return t.decodeLoaded(ctx, s, load.Loaded)
}

// check is the payload of the bytes that were found under key, if it is of this type and its
// tags hold.
func (t *Typed[K, V]) check(ctx context.Context, key, stored []byte) (payload []byte, err error) {
	payload, ok := t.cut(stored)
	if ok {
		return payload, nil
	}
	tags, payload, ok := t.cutTags(stored)
	if !ok { // it is another's
		return nil, t.mismatch(ctx, key, stored, false)
	}
	return payload, t.cfg.c.checkTags(ctx, tags, key, stored)
}

// checkLoaded is check of what a load gave its caller. A value of a loader that was called after the
// caller came is an answer, whatever was invalidated meanwhile. With a shared tier the loader may have
// been called before, and another process may have stored the value long ago: its tags are checked.
// A stale value may have a tag that has expired; one in place of a load that failed or is late may
// have any tag that is not known to be invalidated.
func (t *Typed[K, V]) checkLoaded(ctx context.Context, key, stored []byte, came load.Outcome) (payload []byte, err error) {
	payload, ok := t.cut(stored)
	if !ok {
		var tags typed.Head
		tags, payload, ok = t.cutTags(stored)
		if ok && came != load.Loaded && came != load.JoinedNewer && t.cfg.c.store.HasShared() {
			err = t.cfg.c.checkTags(ctx, tags, key, stored)
		}
		if came == load.Stale && err == errTagExpired || came == load.Fallback && !errors.Is(err, errInvalidated) {
			err = nil
		}
	}
	if err == nil && !ok {
		err = t.mismatch(ctx, key, stored, true)
	}
	return payload, err
}

// takePayload makes a value of its payload, as it is in s.value, and of its memory if that is to
// be the value's own.
func (t *Typed[K, V]) takePayload(ctx context.Context, s *scratch[K], payload []byte, loading bool) (v V, err error) {
	if t.cfg.takes && cap(s.value) > takeFrom {
		s.taken = true
		return t.cfg.codec.(codec.Taker[V]).Take(payload), nil
	}
	return t.decodePayload(ctx, s.key, s.value, payload, loading)
}

// decodePayload makes a value of its payload, as it is in the bytes found under key.
func (t *Typed[K, V]) decodePayload(ctx context.Context, key, stored, payload []byte, loading bool) (v V, err error) {
	if v, err = t.cfg.codec.Decode(payload); err != nil {
		t.space.Rare().DecodeErrors.Add(1)
		var none V
		return none, t.cfg.c.undecodable(ctx, key, stored, t.cfg.codec.Name(), err, loading)
	}
	return v, nil
}

// mismatch counts a value that was written as something else, and deletes it as deleteUnread
// does.
func (t *Typed[K, V]) mismatch(ctx context.Context, key, stored []byte, loading bool) error {
	t.space.Rare().Mismatches.Add(1)
	return t.cfg.c.mismatch(ctx, key, stored, loading)
}

func (c *Cache) mismatch(ctx context.Context, key, stored []byte, loading bool) error {
	c.typed.mismatches.Add(1)
	return errors.Join(errMismatch, c.deleteUnread(ctx, key, stored, loading))
}

// undecodable counts bytes that the codec did not accept, and deletes them likewise.
func (c *Cache) undecodable(ctx context.Context, key, stored []byte, codec string, reason error, loading bool) error {
	c.typed.decodeErrors.Add(1)
	return errors.Join(fmt.Errorf("%w: stored bytes are not %s: %w", ErrNotFound, codec, reason), c.deleteUnread(ctx, key, stored, loading))
}

// deleteUnread deletes a value that this program cannot read. In a shared tier another may
// read it, an older version of the program or a newer one: there it stays, until a load is to
// put another in its place.
func (c *Cache) deleteUnread(ctx context.Context, key, stored []byte, loading bool) error {
	if c.store.Numbers() != nil && !loading {
		return nil
	}
	return c.store.DeleteIfEqual(ctx, key, stored)
}

var errMismatch = fmt.Errorf("%w: stored with another codec, version or type", ErrNotFound)

// Has reports whether there is a value for key. It does not count as a read,
// and does not look whether the value can be decoded.
func (t *Typed[K, V]) Has(key K) bool {
	if t.getHot(key) != nil {
		return true
	}
	s := t.acquire()
	s.k = key
	ok := t.encodeKey(context.Background(), s) == nil
	if ok {
		_, ok = t.inspect(s)
	}
	t.release(s)
	return ok
}

// TTL is how long the value of key has to live, Forever if it never expires. Other
// than that, it is as Has.
func (t *Typed[K, V]) TTL(key K) (ttl time.Duration, ok bool) {
	if e := t.getHot(key); e != nil && !e.isShortened() {
		return t.cfg.c.timeTo(t.deadlineOfHot(e.deadline)), true
	}
	s := t.acquire()
	s.k = key
	if t.encodeKey(context.Background(), s) == nil {
		var deadline int64
		if deadline, ok = t.inspect(s); ok {
			ttl = t.cfg.c.timeTo(deadline)
		}
	}
	t.release(s)
	return ttl, ok
}

// encode appends the bytes that are stored for a value.
func (t *Typed[K, V]) encode(dst []byte, v V) ([]byte, error) {
	if t.cfg.atMost != 0 {
		dst = typed.AppendEnd(dst, t.cfg.c.store.Now()+t.cfg.atMost)
	}
	dst, err := t.cfg.codec.Append(t.cfg.fingerprint.Append(dst), v)
	if err != nil {
		return dst, fmt.Errorf("firn: encode a value of type %s as %s: %w", codec.TypeName(reflect.TypeFor[V]()), t.cfg.codec.Name(), err)
	}
	return dst, nil
}

// All yields every live key and value, as Cache.All. It looks at every entry of the Cache. Keys
// and values that cannot be decoded are left out, and counted in DecodeErrors of Stats: keys that
// are stored with AppendBinary need UnmarshalBinary. It ends when the namespace is cleared.
func (t *Typed[K, V]) All() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for rawKey, payload := range t.raw {
			k, err := t.cfg.keys.Parse(rawKey)
			var v V
			if err == nil {
				v, err = t.cfg.codec.Decode(payload)
			}
			switch {
			case err != nil:
				t.cfg.c.typed.decodeErrors.Add(1)
				t.space.Rare().DecodeErrors.Add(1)
			case !yield(k, v):
				return
			}
		}
	}
}

// raw yields the bytes of every live key and value of the codec, as they are lent, until
// the namespace is cleared.
func (t *Typed[K, V]) raw(yield func(key, payload []byte) bool) {
	generation, err := t.space.ToRead(context.Background())
	if err != nil {
		return
	}
	prefix := string(generation.Append(nil))
	for key, value := range t.cfg.c.All() {
		if !t.isCurrent(generation) || t.closed.Load() {
			return
		}
		if len(key) < coherence.GenerationLen || string(key[:coherence.GenerationLen]) != prefix {
			continue
		}
		if payload, ok := t.valid(context.Background(), value); ok && !yield(key[coherence.GenerationLen:], payload) {
			return
		}
	}
}

// isCurrent reports whether a namespace was not cleared since a generation was the current one.
func (t *Typed[K, V]) isCurrent(g *coherence.Generation) bool {
	latest := t.space.Generation()
	if latest.Agreed != nil && latest.Agreed.Voided() { // another process may have cleared it
		var err error
		if latest, err = t.space.ToRead(context.Background()); err != nil {
			return false
		}
	}
	return latest.Number == g.Number
}

// acquire takes scratch for a call, release gives it back.
func (t *Typed[K, V]) acquire() *scratch[K] { return t.cfg.scratch.Get().(*scratch[K]) }

func (t *Typed[K, V]) release(s *scratch[K]) {
	if s.taken {
		s.value, s.taken = nil, false
	}
	if cap(s.value) <= maxScratch && cap(s.key) <= maxScratch {
		var none K
		s.k = none
		t.cfg.scratch.Put(s)
	}
}

// encodeKey makes s.key of s.k, for a call that reads.
func (t *Typed[K, V]) encodeKey(ctx context.Context, s *scratch[K]) error {
	generation, err := t.space.ToRead(ctx)
	if err != nil {
		return err
	}
	return t.encodeKeyIn(s, generation)
}

func (t *Typed[K, V]) encodeKeyIn(s *scratch[K], in *coherence.Generation) (err error) {
	if t.closed.Load() {
		return errTypedClosed
	}
	s.in = in
	s.key, err = t.cfg.keys.Append(in.Append(s.key[:0]), &s.k)
	if err != nil {
		return fmt.Errorf("firn: encode a key of type %s: %w", codec.TypeName(reflect.TypeFor[K]()), err)
	}
	return nil
}
