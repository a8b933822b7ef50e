package firn

import (
	"bytes"
	"fmt"
	"reflect"

	"github.com/firncache/firn/internal/codec"
	"github.com/firncache/firn/internal/coherence"
)

// listener is OnEvict, nil without.
func (t *Typed[K, V]) listener(opts *TypedOptions[K, V]) (*listener, error) {
	causes, err := causesOf(opts.OnEvictCauses)
	onEvict := opts.OnEvict
	switch {
	case err != nil:
		return nil, fmt.Errorf("firn: TypedOptions.OnEvictCauses %w", err)
	case onEvict == nil && len(opts.OnEvictCauses) > 0:
		return nil, fmt.Errorf("firn: TypedOptions.OnEvictCauses is %v, and OnEvict is nil: want both", opts.OnEvictCauses)
	case onEvict == nil:
		return nil, nil
	case !t.cfg.keys.Reversible():
		return nil, fmt.Errorf("firn: TypedOptions.OnEvict with keys of type %s: want UnmarshalBinary, or TypedOptions.KeyCodec", codec.TypeName(reflect.TypeFor[K]()))
	}
	return &listener{
		causes: causes,
		wants:  t.isOurs,
		told: func(key, value []byte, cause Cause) {
			if t.closed.Load() { // though it had not been when the entry left
				return
			}
			if k, v, ok := t.parse(key, value); ok {
				onEvict(k, v, cause)
			}
		},
	}, nil
}

// isOurs reports whether a key of the Cache is one of the namespace's current generation.
func (t *Typed[K, V]) isOurs(key []byte) bool {
	g := t.space.Generation()
	if g == nil || len(key) < coherence.GenerationLen {
		return false
	}
	var number [coherence.GenerationLen]byte
	return bytes.Equal(g.Append(number[:0]), key[:coherence.GenerationLen])
}

// parse is the key and the value of an entry of the namespace. It counts those that cannot
// be read.
func (t *Typed[K, V]) parse(key, stored []byte) (k K, v V, ok bool) {
	payload, ours := t.payload(stored)
	if !ours {
		t.cfg.c.typed.mismatches.Add(1)
		t.space.Rare().Mismatches.Add(1)
		return k, v, false
	}
	k, err := t.cfg.keys.Parse(key[coherence.GenerationLen:])
	if err == nil {
		v, err = t.cfg.codec.Decode(payload)
	}
	if err != nil {
		t.cfg.c.typed.decodeErrors.Add(1)
		t.space.Rare().DecodeErrors.Add(1)
	}
	return k, v, err == nil
}
