package harness

import (
	"sync"
	"testing"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/vfs"
)

// NewTyped is firn.NewTyped, which must not fail.
func NewTyped[K comparable, V any](t testing.TB, c *firn.Cache, name string, opts firn.TypedOptions[K, V]) *firn.Typed[K, V] {
	t.Helper()
	typed, err := firn.NewTyped(c, name, opts)
	if err != nil {
		t.Fatal(err)
	}
	return typed
}

// MapFront is a front without a limit.
type MapFront[K comparable, V any] struct {
	entries sync.Map
	Deaf    bool // to Delete: not a front that one may use
}

func (f *MapFront[K, V]) Get(key K) *firn.FrontEntry[V] {
	e, _ := f.entries.Load(key)
	entry, _ := e.(*firn.FrontEntry[V])
	return entry
}

func (f *MapFront[K, V]) Set(key K, e *firn.FrontEntry[V]) { f.entries.Store(key, e) }

func (f *MapFront[K, V]) Delete(key K) {
	if !f.Deaf {
		f.entries.Delete(key)
	}
}

// WithFront adds a front to the options.
func WithFront(opts firn.TypedOptions[string, string]) firn.TypedOptions[string, string] {
	opts.Front = &MapFront[string, string]{}
	return opts
}

// OpenOn opens a cache over a file system.
func OpenOn(t *testing.T, fs vfs.FS, change ...func(*firn.Options)) *firn.Cache {
	t.Helper()
	return OpenSmall(t, append([]func(*firn.Options){func(o *firn.Options) {
		o.SSD = With(On(firn.SSDOptions{Bytes: 64 << 20, SegmentBytes: 64 << 10, Admission: firn.AdmitAll}, fs), Patiently)
	}}, change...)...)
}

// Demote fills RAM until what was there before has gone down and is written.
func Demote(t *testing.T, c *firn.Cache) {
	t.Helper()
	for i := range 6_000 {
		key, value := Numbered(i)
		if err := c.Set(key, value); err != nil {
			t.Fatal(err)
		}
	}
}
