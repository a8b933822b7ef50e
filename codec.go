package firn

import "github.com/firncache/firn/internal/codec"

// Codec turns values into bytes and back. Many goroutines may call its methods at once. The
// packages under codec/ have more than this one.
type Codec[V any] interface {
	// Name names the format of the bytes, with a version: "json/1". Bytes that
	// were written under another name are not decoded: they are a miss.
	Name() string

	// Append appends the bytes of v to dst and returns the extended slice. It
	// keeps neither. With an error, nothing is stored.
	Append(dst []byte, v V) ([]byte, error)

	// Decode makes a value of bytes that Append wrote, or, after a fault, of any others: those are
	// an error, never a panic or an allocation out of proportion. The value must not share memory
	// with src.
	Decode(src []byte) (V, error)
}

// DefaultCodec is the codec that NewTyped chooses for a type. It is binary, keeps values as they
// were, and is made once for the type, part by part:
//
//   - a type with AppendBinary or MarshalBinary, and with UnmarshalBinary, of its own: those;
//     time.Time: the moment and the zone's offset
//   - numbers, bools, strings, []byte, and arrays, slices, maps, pointers and structs of what
//     is in this list, whatever their names: their data
//   - a struct with MarshalText and UnmarshalText of its own: those
//   - a type that has an unexported field or the like, with MarshalJSON and UnmarshalJSON of
//     its own: those
//
// All else is an error that names the field: interfaces, unexported fields, functions, channels,
// maps whose keys have pointers. Methods of an embedded field are not a struct's own. A field with
// the tag `firn:"-"` is left out, and so is a blank one; other tags mean nothing here.
//
// nil and empty stay apart, but for a value that is a []byte itself; NaN stays; equal maps have
// equal bytes. Two pointers to one value become pointers to two; a cycle is an error of Append.
// Small strings of one value may share memory, up to 512 bytes.
func DefaultCodec[V any]() (Codec[V], error) { return codec.Default[V]() }

// JSONCodec is the codec of encoding/json. What that does not write is lost: unexported fields,
// dynamic types of interface values, bytes that are not UTF-8, nil or empty where a tag says
// omitempty. A value nested more than 10,000 deep is written, and cannot be read.
func JSONCodec[V any]() Codec[V] { return codec.JSON[V]() }
