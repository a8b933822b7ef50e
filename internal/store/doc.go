// Package store makes one store of a cache's tiers: the local ones, or the fleet over them. It
// alone knows whether there is a shared tier.
//
//	       Get, Set            a Store's calls
//	          |
//	   +------v------+
//	   |  RAM tier   |         internal/ram: evicts, and demotes what it evicts
//	   +--|-------^--+
//	demote|       |promote     internal/local: the two as one store
//	   +--v-------|--+
//	   |  SSD tier   |         internal/ssd
//	   +------^------+
//	    write | copies, push   internal/fleet: copies of the shared tier's entries
//	   +------v------+
//	   | shared tier |         internal/shared says what it is
//	   +-------------+
package store
