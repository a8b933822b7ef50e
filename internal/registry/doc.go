// Package registry remembers when tags were invalidated and namespaces cleared, in memory
// of a fixed size, for any number of both.
//
// # Terminology
//
//   - clock: a count of all invalidations, expirations and Clears. It never falls.
//   - place: where the clocks of the last invalidation and of the last expiration of a tag stand, and
//     that of the last Clear of a namespace. A hash chooses it, so names may share one: what happens to one
//     name of a place happens to all.
//   - note: of a value with tags: the clock before it was made. It holds as long as no place of
//     its tags has a later one.
//   - generation: the number that the keys of a namespace begin with: a hash of the
//     namespace's id and of what its place has.
//   - epoch: a random secret of a table. No note of another epoch holds.
//
// # Files
//
//   - id.go: ids, and hashes of them
//   - table.go: the table, its memory, and tags
//   - note.go: what a value with tags notes
//   - generation.go: namespaces
//   - restore.go: a table's saved form, and tables of other sizes
//   - size.go: how many places a table has
package registry
