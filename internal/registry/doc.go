// Package registry keeps numbers under names, of which some may be forgotten: the
// generations of namespaces, and the versions of tags.
//
// # Terminology
//
//   - number: 64 bits, not 0. Whoever finds another number under a name than the one
//     that he has, takes what he has for worthless.
//   - id: the name of a number: a byte that says of which kind it is, and a hash.
//   - slot: the place of one number in the table's memory.
//   - held: an id that is in use, whose slot is not taken over.
//
// # Files
//
//   - id.go: ids
//   - table.go: the table, and where an id stands in it
//   - insert.go: how slots are taken over
//   - size.go: the memory of a table
package registry
