// Package migration makes the calls of other caches, and beside them the calls
// of firn that take their place. Tests check that every method of the other
// caches is called, and that both sides see the same. docs/MIGRATION.md has what
// the code does not show.
//
// There is one file for each cache. Its first function is how programs use that
// cache, its second how they use firn instead. Package adapters has the methods of
// other caches over firn.
package migration

// noter is told what a program sees, so that two programs can be compared.
type noter func(what string, seen ...any)
