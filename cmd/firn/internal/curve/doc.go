// Package curve reads what-if curves of caches, and shows them to people: as a chart in a
// terminal, as a table, and as sentences that say which size is worth its memory.
package curve
