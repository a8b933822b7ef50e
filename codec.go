package firn

import "github.com/firncache/firn/internal/codec"

// Codec turns values into bytes and back. Its methods may be called by many
// goroutines at once.
//
// Package firn has codecs for types that need no other library, see DefaultCodec;
// the packages under codec/ have others.
type Codec[V any] interface {
	// Name names the format of the bytes, with a version: "json/1". Bytes that
	// were written under another name are not decoded: they are a miss.
	Name() string

	// Append appends the bytes of v to dst and returns the extended slice. It
	// keeps neither. With an error, nothing is stored.
	Append(dst []byte, v V) ([]byte, error)

	// Decode makes a value of bytes that Append wrote, or, after a fault, of
	// any others: those are an error, never a panic or an allocation out of
	// proportion. src is lent until it returns: the value must not share memory
	// with it.
	Decode(src []byte) (V, error)
}

// DefaultCodec is the codec that NewTyped chooses for a type. It is binary, keeps
// values as they were, and is made once for the type, part by part:
//
//   - a type with AppendBinary or MarshalBinary, and with UnmarshalBinary (package encoding),
//     of its own: those; time.Time: the moment and the zone's offset
//   - numbers, bools, strings, []byte, and arrays, slices, maps, pointers and structs of what
//     is in this list, whatever their names: their data; slices of numbers by one copy
//   - a struct with MarshalText and UnmarshalText of its own: those
//   - a type that has an unexported field or the like, with MarshalJSON and UnmarshalJSON of its
//     own: those
//
// Methods that a struct has from an embedded field are not its own: its fields are stored
// one by one, those of embedded structs of unexported type too. A field with the tag
// `firn:"-"` is left out, and so is a blank one; other tags mean nothing here.
//
// All else is an error that names the field: interfaces, as only JSON or another Codec of
// choice can make something of them; unexported fields; functions and channels; maps whose
// keys have pointers.
//
// nil and empty stay apart, but for a value that is a []byte itself; NaN and
// bytes that are not UTF-8 stay; equal maps have equal bytes. Two pointers to one value become
// pointers to two. A value that lies within a thousand pointers, slices and
// maps, as a cycle does, is an error of Append.
//
// Small strings of one value may share memory: one that is kept keeps up to 512 bytes.
func DefaultCodec[V any]() (Codec[V], error) { return codec.Default[V]() }

// JSONCodec is the codec of encoding/json. Data that the package does not write are
// lost: unexported fields, fields of one name, what lies beside an embedded type
// that marshals itself, the dynamic types of interface values, bytes of strings
// that are not UTF-8, the difference between nil and empty where a tag says
// omitempty.
func JSONCodec[V any]() Codec[V] { return codec.JSON[V]() }
