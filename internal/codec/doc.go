// Package codec turns values into bytes and back, with codecs that need no other
// library, and tells whether bytes were written for the type that reads them.
//
// # Terminology
//
//   - codec: a name for a format of bytes, a function that writes a value, and
//     one that reads it.
//   - default: the codec that a type gets if nobody chooses one. Its values come
//     back as they were, or are refused.
//   - plan: how the values of a type become bytes, step by step, made once by reflection.
//   - promoted: of a method that a struct has from an embedded field. It knows
//     nothing of the other fields.
//   - layout: the description of a type, down to the fields.
//   - fingerprint: the 32 bits that stand before the bytes of a value: a hash of
//     the codec's name, the layout and whatever else gives them their meaning.
//
// # Files
//
//   - default.go: which codec a type gets
//   - plain.go: strings, bytes, numbers and times
//   - binary.go: types that marshal themselves
//   - planned.go: all others, by package plan
//   - holder.go: where a value lies meanwhile
//   - json.go: JSON, by choice
//   - fingerprint.go: layout and fingerprint
package codec
