// Package typed has what typed caches need besides a codec: the bytes of their
// keys, the namespaces that the keys begin with, and tags.
//
// # Terminology
//
//   - namespace: the entries of the typed caches of one name and type of keys.
//   - generation: a number that begins the keys of a namespace, until that is cleared.
//   - registry: where the store keeps the numbers of generations, and when tags were
//     invalidated, so that a later process finds it.
//   - head: the bytes before a value that has tags.
//   - part: a number, bool or string in a key, alone or as a field or an element.
//
// # Files
//
//   - key.go: how keys become bytes, and back
//   - parts.go: those of keys made of several numbers and strings
//   - namespace.go: namespaces, and their generations; namespaces.go: those of a cache that are
//     in use; terms.go: what their users agree on; shared_space.go: those that all processes
//     agree on; apart.go: what is loaded while that is not known
//   - head.go: what stands before a value with tags
//   - tags.go: tags, and what they make of a value; shared_tags.go: with a shared tier
//   - counters.go: how often a namespace's typed caches were called
package typed
