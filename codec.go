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

// DefaultCodec is the codec that NewTyped and SetValue choose for a type, the
// first of these that fits:
//
//   - time.Time: its AppendBinary
//   - a type, or a pointer to one, with AppendBinary or MarshalBinary, and with
//     UnmarshalBinary (package encoding): those
//   - a type whose underlying type is []byte, string or an array of bytes: the
//     bytes as they are; nil slices come back empty
//   - a type whose underlying type is a number or bool: 1 to 16 bytes,
//     little-endian
//   - any other: that of JSONCodec, for values that JSON brings back as they were given.
//     A []byte in a struct is base64 there: a third larger, and several times slower to
//     read. For such structs set TypedOptions.Codec, to that of codec/msgpack for
//     instance, or give the type AppendBinary and UnmarshalBinary.
//
// A type of which JSON would lose something is an error that names the field,
// unless its tag is `json:"-"`, or its type marshals itself: interface types;
// unexported fields; fields of function, channel or method-bearing interface
// types; two fields of one name, one of which may be embedded; map keys that are
// neither strings nor integers nor text. So is a struct that has its methods
// from an embedded type, as from time.Time, and other fields beside it.
//
// A value of which JSON would lose something is an error of Append: a string that
// is not UTF-8, a pointer to nil, what a type that only reads its JSON itself reads
// as something else, and in an interface whatever is not a bool, a float64, a
// string, or an []any or map[string]any of such. Where that is meant,
// JSONCodec takes everything. Fields that a tag like omitempty leaves out are left out.
func DefaultCodec[V any]() (Codec[V], error) { return codec.Default[V]() }

// JSONCodec is the codec of encoding/json. Data that the package does not write are
// lost: unexported fields, fields of one name, what lies beside an embedded type
// that marshals itself, the dynamic types of interface values, bytes of strings
// that are not UTF-8, the difference between nil and empty where a tag says
// omitempty. DefaultCodec uses it for types and values of which nothing is lost.
func JSONCodec[V any]() Codec[V] { return codec.JSON[V]() }
