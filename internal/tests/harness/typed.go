package harness

import (
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

// WithFront adds hot values to the options.
func WithFront(opts firn.TypedOptions[string, string]) firn.TypedOptions[string, string] {
	opts.HotValues = 1000
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
