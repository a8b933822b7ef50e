// Package shared is what the local tiers and a tier that several processes share say to
// each other. Package fleet has the one side, the module firn/remote the other. It holds no
// data and sends nothing.
//
//	     store.Store             Get, Set, Delete, loads: the local tiers first
//	   |      ^        ^
//	Tier |    | Local  | Trust    Read, Write … / Invalidate … / which copies hold
//	   v      |        |
//	     remote.Tier              wires to the servers, their feed of invalidations
//
// # Words
//
//   - copy: what the local tiers, RAM and SSD, have of an entry of the shared tier.
//   - version: 64 random bits that name one write of a key; no two writes have the same.
//   - epoch: the time in which the feed of one server was never interrupted. What was read in
//     it, and not invalidated since, is what the server has.
//   - slot: the part of the keys that a server owns; there is one slot without a cluster.
//   - stamp: the epoch in which a copy was last known to be the latest, and its slot.
//   - trailer: version and stamp, behind the value of a copy.
//   - trusted: said of a copy that may be an answer without a request: its stamp is of the
//     present epoch, and the server was heard of lately. suspect: not trusted.
//   - check: get the version of a suspect copy's entry; if that is the latest, the copy in RAM is stamped
//     again; for one on the SSD a seal in Trust notes it.
//   - push: the server's word that a key was changed elsewhere.
//   - lease: an entry without a value, by which one process says that it loads the key.
//   - number: a random one under an id, which all processes agree on: of a namespace's
//     generation, and of a tag's version.
//   - bound: how much older than the shared tier an answer may be.
package shared
