// Package codec is the home of codecs that need another library, one package
// each, in a module of their own: a program builds only what it imports.
//
//	msgpack   MessagePack, by github.com/shamaton/msgpack
//	cbor      CBOR, by github.com/fxamacker/cbor
//	protobuf  Protocol Buffers, by google.golang.org/protobuf
//	gojson    JSON, by github.com/goccy/go-json
//	compress  S2 or Zstandard around any codec, by github.com/klauspost/compress
//
// Package codectest holds any codec against the contract of firn.Codec.
package codec
