// Package invariants holds the switches of checks that cost nothing in
// production: they are constants, so that the compiler drops the guarded code.
package invariants
