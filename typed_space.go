package firn

import (
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/firncache/firn/internal/codec"
	"github.com/firncache/firn/internal/load"
	"github.com/firncache/firn/internal/typed"
	"github.com/firncache/firn/stats"
)

// isZero reports whether the options say nothing, but for the namespace's quota.
func (o *TypedOptions[K, V]) isZero() bool {
	return o.Codec == nil && o.KeyCodec == nil && o.TTL == 0 && o.ExpireAfterAccess == 0 && o.Loading == (LoadingOptions{}) &&
		o.HotValues == 0 && !o.ReadOnly && o.Version == 0 && o.OnEvict == nil && len(o.OnEvictCauses) == 0
}

// config is the configuration that the options make on c. The namespace is for errors.
func (o *TypedOptions[K, V]) config(c *Cache, namespace string) (*typedConfig[K, V], error) {
	if !o.isZero() {
		return o.newConfig(c, namespace)
	}
	types := reflect.TypeFor[typedConfig[K, V]]()
	if cfg, ok := c.typed.configs.Load(types); ok {
		return cfg.(*typedConfig[K, V]), nil
	}
	cfg, err := o.newConfig(c, namespace)
	if err != nil {
		return nil, err
	}
	first, _ := c.typed.configs.LoadOrStore(types, cfg)
	return first.(*typedConfig[K, V]), nil
}

func (o *TypedOptions[K, V]) newConfig(c *Cache, namespace string) (*typedConfig[K, V], error) {
	keys, err := typed.NewKeys[K](o.KeyCodec)
	if err != nil {
		return nil, newTypedError(namespace, err)
	}
	hotValues, err := o.hotValues(&keys)
	if err != nil {
		return nil, err
	}
	measures := o.mayOutgrow()
	if o.Codec == nil {
		if o.Codec, err = DefaultCodec[V](); err != nil {
			return nil, newTypedError(namespace, err)
		}
	}
	loads, err := o.loads(c)
	if err != nil {
		return nil, err
	}
	cfg := &typedConfig[K, V]{c: c, keys: keys, codec: o.Codec, number: codec.IsNumber(o.Codec), loads: loads, hotValues: hotValues, measures: measures, scratch: scratchPool[K]()}
	_, cfg.takes = o.Codec.(codec.Taker[V])
	cfg.slide(o)
	cfg.fills = hotValues != 0 || loads.Slides()
	value, name := reflect.TypeFor[V](), o.Codec.Name()
	cfg.fingerprint = typed.Unambiguous(codec.FingerprintOf("typed", name, codec.Layout(name, value), keys.Name(), fmt.Sprint(o.Version)))
	cfg.shape = c.typed.spaces.Shape(keys.Name(), cfg.fingerprint, fmt.Sprintf("a %s by %s, version %d", codec.TypeName(value), name, o.Version))
	return cfg, nil
}

// typedClosedError is ErrClosed of a Typed on a cache that is open.
type typedClosedError struct{}

var errTypedClosed error = typedClosedError{}

func (typedClosedError) Error() string { return "firn: Typed is closed" }
func (typedClosedError) Unwrap() error { return ErrClosed }

// Close ends this Typed. Its calls find nothing from then on, and writes return ErrClosed; its hot
// values are gone, and its OnEvict is called no more: Close does not wait for a call under way. The
// entries stay in the Cache: the next NewTyped finds them. A Typed that is merely forgotten gives
// back as much, when the garbage is collected, unless it has OnEvict. A second Close does nothing.
func (t *Typed[K, V]) Close() error {
	if t.closed.Swap(true) {
		return nil
	}
	t.closeHot()
	if t.cfg.stopEvents != nil {
		t.cfg.stopEvents()
	}
	t.cfg.c.typed.spaces.Close(t.space)
	return nil
}

// Len is the number of live entries of the namespace with this codec, version and types. It looks
// at every entry of the Cache.
func (t *Typed[K, V]) Len() (n int) {
	for range t.raw {
		n++
	}
	return n
}

// Stats are the counters of the namespace. They begin again when all typed caches of it
// were closed or forgotten.
func (t *Typed[K, V]) Stats() (s stats.Namespace) {
	addNamespace(&s, t.cfg.c, t.space)
	return s
}

// StatsByNamespace are the counters of the namespaces that are in use, by their names: the sum
// where there are keys of several types.
func (c *Cache) StatsByNamespace() map[string]stats.Namespace {
	all := map[string]stats.Namespace{}
	for _, n := range c.typed.spaces.All() {
		s := all[n.Label]
		addNamespace(&s, c, n)
		all[n.Label] = s
	}
	return all
}

// addNamespace adds the counters of a namespace.
func addNamespace(s *stats.Namespace, c *Cache, n *typed.Namespace) {
	sum := n.Counters.Sum()
	s.Hits += sum.Hits
	s.Misses += sum.Misses
	s.Sets += sum.Sets
	s.Deletes += sum.Deletes
	s.FrontHits += c.typed.fronts.HitsOf(n.Current())
	if rare := n.RareSoFar(); rare != nil {
		s.FrontHits += rare.FrontHits.Load()
		s.Loads += rare.Loads.Load()
		s.LoadErrors += rare.LoadErrors.Load()
		s.Mismatches += rare.Mismatches.Load()
		s.DecodeErrors += rare.DecodeErrors.Load()
	}
	if q := n.Quota(); q.Max() != 0 {
		bytes, evicted := q.InRAM()
		s.Bytes += bytes
		s.MaxBytes += q.Max()
		s.QuotaEvictions += evicted
		onSSD, most := q.OnSSD()
		s.SSDBytes += onSSD
		s.MaxSSDBytes += most
	}
}

// loads is the group of the loads that the options make: the Cache's, unless they say how values
// live or are loaded.
func (o *TypedOptions[K, V]) loads(c *Cache) (*load.Group, error) {
	if o.TTL == 0 && o.ExpireAfterAccess == 0 && o.Loading == (LoadingOptions{}) {
		return &c.loads, nil
	}
	cfg := c.loads.Config()
	switch {
	case o.TTL != 0:
		if err := load.CheckTTL(o.TTL); err != nil {
			return nil, fmt.Errorf("firn: TypedOptions.TTL: %w", err)
		}
		cfg.TTL = o.TTL
	case o.ExpireAfterAccess != 0 && c.loads.TTL() != load.Sliding:
		o.TTL = c.loads.TTL() // is the end
	}
	if o.ExpireAfterAccess == 0 && o.Loading == (LoadingOptions{}) {
		return c.loads.WithTTL(cfg.TTL), nil
	}
	if o.Loading != (LoadingOptions{}) {
		cfg.Options = load.Options(o.Loading)
	}
	slides := o.ExpireAfterAccess
	if slides != 0 {
		cfg.Idle, cfg.TTL = slides, load.Sliding
	} else if cfg.TTL == load.Sliding {
		slides = cfg.Slide
	}
	loading := LoadingOptions(cfg.Options)
	err := validateAccess(slides, c.store.HasShared(), &loading)
	if err == nil {
		err = loading.validate(cfg.TTL)
	}
	if bad := (*OptionError)(nil); errors.As(err, &bad) {
		of := "TypedOptions"
		if bad.Field != "ExpireAfterAccess" && o.Loading == (LoadingOptions{}) {
			of = "with Options"
		}
		return nil, fmt.Errorf("firn: NewTyped: %s.%s %w", of, bad.Field, bad.Err)
	}
	if slides != 0 && o.TTL != 0 && slides >= o.TTL {
		return nil, fmt.Errorf("firn: TypedOptions.ExpireAfterAccess is %v: want less than TTL, %v", slides, o.TTL)
	}
	if c.off {
		cfg.Options = load.Options(loading.whileOff())
	}
	c.store.RaiseGrace(cfg.Grace())
	return c.loads.With(cfg), nil
}

// leastQuota is the least MaxBytes: less is rather a mistake in the unit.
const leastQuota = 4 << 10

// validateMaxBytes refuses a quota that would keep nothing, or have no effect. One that the
// namespace has already was valid: RAMBytes has been lowered since.
func (o *TypedOptions[K, V]) validateMaxBytes(c *Cache) error {
	most := c.store.RAMBytes()
	if c.adaptive != nil {
		most = max(most, c.adaptive.Most())
	}
	if o.MaxBytes == 0 || o.MaxBytes >= leastQuota && (o.MaxBytes <= most || c.off) {
		return nil
	}
	return fmt.Errorf("TypedOptions.MaxBytes is %d: want %d to RAMBytes, %d, or 0 for no quota", o.MaxBytes, leastQuota, most)
}

// slide has deadlines slide as the options say.
func (t *typedConfig[K, V]) slide(o *TypedOptions[K, V]) {
	t.slideLead = t.loads.SlideLead()
	if t.loads.Slides() && o.TTL != 0 && o.TTL != Forever {
		t.atMost = int64(o.TTL / time.Millisecond)
	}
}

// cut takes the end of its life and the fingerprint off what is stored behind a value's tags.
func (t *Typed[K, V]) cut(value []byte) (payload []byte, ok bool) {
	if payload, ok = t.cfg.fingerprint.Cut(value); ok {
		return payload, true
	}
	_, value = typed.CutEnd(value)
	return t.cfg.fingerprint.Cut(value)
}

// moveDeadline moves the deadline of a value that was read, if that slides and it is time, and
// returns what it is then.
func (t *Typed[K, V]) moveDeadline(key, stored []byte, deadline int64) int64 {
	if t.cfg.loads.Stays(deadline) || !t.cfg.c.store.Passed(deadline-t.cfg.slideLead) {
		return deadline
	}
	if _, value, ok := typed.CutTags(stored); ok {
		stored = value
	}
	end, _ := typed.CutEnd(stored)
	to, moves := t.cfg.loads.Slide(t.cfg.c.store.Now(), deadline, end)
	if !moves {
		return deadline
	}
	return t.cfg.c.store.SlideTo(key, deadline, to)
}

// hotDeadline is until when a hot value with this deadline is an answer. A read that would move
// the deadline goes to the bytes, and the value is hot again with the new one.
func (t *Typed[K, V]) hotDeadline(deadline int64) int64 {
	if t.cfg.slideLead == 0 || t.cfg.loads.Stays(deadline) {
		return deadline
	}
	return max(deadline-t.cfg.slideLead, 4|deadline&3)
}

// deadlineOfHot is the deadline of a hot value with this one: the reverse of hotDeadline, as
// slideLead leaves the marks of a deadline.
func (t *Typed[K, V]) deadlineOfHot(until int64) int64 {
	if t.cfg.slideLead == 0 || t.cfg.loads.Stays(until) {
		return until
	}
	return until + t.cfg.slideLead
}
