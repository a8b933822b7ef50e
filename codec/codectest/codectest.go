// Package codectest holds codecs against the contract of firn.Codec.
package codectest

import (
	"bytes"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/firncache/firn"
)

// Check stores and reads each value, and looks whether Append keeps what dst
// holds, whether values share memory with the bytes they were made of, and
// whether each beginning of the bytes is an error or a value. Values are compared
// with reflect.DeepEqual, or with equal if it is not nil.
func Check[V any](t *testing.T, codec firn.Codec[V], equal func(a, b V) bool, values ...V) {
	t.Helper()
	if equal == nil {
		equal = func(a, b V) bool { return reflect.DeepEqual(a, b) }
	}
	if codec.Name() == "" || codec.Name() != codec.Name() {
		t.Errorf("the name is %q: want one", codec.Name())
	}
	for _, v := range values {
		dst, err := codec.Append([]byte("before "), v)
		if err != nil {
			t.Errorf("Append of %v: %v", v, err)
			continue
		}
		if !strings.HasPrefix(string(dst), "before ") {
			t.Errorf("Append of %v lost what was in dst: %q", v, dst)
			continue
		}
		src := dst[len("before "):]
		original := bytes.Clone(src)
		got, err := codec.Decode(src)
		if err != nil {
			t.Errorf("Decode of %v: %v", v, err)
			continue
		}
		if !bytes.Equal(src, original) {
			t.Errorf("Decode of %v changed its bytes", v)
		}
		for i := range src {
			src[i] ^= 0x5a
		}
		if !equal(got, v) {
			t.Errorf("got %+v, want %+v", got, v)
		}
		for n := range min(len(original), 300) {
			_, _ = codec.Decode(bytes.Clone(original[:n])) // must not panic
		}
	}
}

// Fuzz is the body of a fuzz target for one codec: Decode of any bytes must not
// panic, nor change them, nor allocate out of proportion, and what it accepts
// must be written and read again. Each byte of src may cost most bytes, and a
// call may cost a megabyte.
func Fuzz[V any](t *testing.T, codec firn.Codec[V], src []byte, most uint64) {
	original := bytes.Clone(src)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	v, err := codec.Decode(src)
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20+most*uint64(len(src)) {
		t.Fatalf("%s: %d bytes allocated for %d", codec.Name(), got, len(src))
	}
	if !bytes.Equal(src, original) {
		t.Fatalf("%s: Decode changed its bytes", codec.Name())
	}
	if err != nil {
		return
	}
	again, err := codec.Append(nil, v)
	if err != nil {
		return // some formats read what they do not write
	}
	if _, err := codec.Decode(again); err != nil {
		t.Fatalf("%s: reads %x and writes %x for it, which it does not read: %v", codec.Name(), original, again, err)
	}
}
