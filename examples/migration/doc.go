// Package migration makes the calls of other caches, and beside them the calls
// of firn that take their place. docs/MIGRATION.md quotes them; a test checks
// that every quotation is here, that every method of the other caches is
// covered, and that both sides see the same.
//
// There is one file for each cache. Its first function is how programs use that
// cache, its second how they use firn instead.
package migration

// noter is told what a program sees, so that two programs can be compared.
type noter func(what string, seen ...any)
