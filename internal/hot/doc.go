// Package hot keeps decoded values on the Go heap, above the bytes: a table of hot values for
// each typed cache, and one budget for all of a Cache.
//
// # Terminology
//
//   - set: seven values and a word about them, in one cache line.
//   - door: keeps a key out until it is read twice with few others between: a value that is
//     read once costs more than it brings. The smallest table has none.
//   - budget: the bytes of all tables and their values, by estimate: a part of RAMBytes, which
//     the RAM tier lends as it is needed.
//
// # Files
//
//   - table.go: the table, and reads of it
//   - put.go: what goes in, and what it drives out
//   - budget.go: the budget
package hot
