// Package typed has what typed caches need besides a codec: the bytes of their
// keys, the namespaces that the keys begin with, and the header of a value that
// names its own type.
//
// # Terminology
//
//   - namespace: the entries of the typed caches of one name and type of keys.
//   - generation: a number that is drawn when a namespace begins, and again when it
//     is cleared. The keys begin with it.
//   - registry: where the store keeps the current generations' numbers, so that a later
//     process finds them.
//   - part: a number, bool or string in a key, alone or as a field or an element.
//   - header: the bytes before those of a value, or payload: the name of its
//     type and a fingerprint of layout and codec.
//
// # Files
//
//   - key.go: how keys become bytes, and back
//   - parts.go: those of keys made of several numbers and strings
//   - namespace.go: namespaces, and their generations; shared_space.go: those that all
//     processes agree on
//   - tags.go: tags, and their versions; shared_tags.go likewise
//   - counters.go: how often a namespace's typed caches were called
//   - value.go: values behind a header, as SetValue and GetValue have them
package typed
