package rivals

import "sync"

var syncMapRival = Rival{
	Name: "sync.Map", Lends: true,
	Setup: "keys and values boxed in any; a map: no limit, no expiry",
	Open: func(c Config) (Cache, error) {
		switch c.form() {
		case arrays4:
			return &syncMapCache[key4, value4]{layout: newLayout[key4, value4]()}, nil
		case arrays16:
			return &syncMapCache[key16, value]{layout: newLayout[key16, value]()}, nil
		case slices16:
			return &syncMapCache[key16, []byte]{layout: newLayout[key16, []byte]()}, nil
		}
		return &syncMapCache[string, []byte]{layout: newLayout[string, []byte]()}, nil
	},
}

type syncMapCache[K comparable, V any] struct {
	layout[K, V]
	m sync.Map
}

func (s *syncMapCache[K, V]) Get(dst, key []byte) ([]byte, bool) {
	boxed, ok := s.m.Load(s.key(key))
	if !ok {
		return dst, false
	}
	v := boxed.(V)
	return s.bytes(dst, &v), true
}

func (s *syncMapCache[K, V]) Set(key, value []byte) bool {
	s.m.Store(s.ownKey(key), s.ownValue(value))
	return true
}

func (s *syncMapCache[K, V]) Delete(key []byte) { s.m.Delete(s.key(key)) }
func (s *syncMapCache[K, V]) Wait()             {}
func (s *syncMapCache[K, V]) Close()            { s.m.Clear() }
