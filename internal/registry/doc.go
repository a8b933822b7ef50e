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
// # Why no invalidated value comes back
//
// Two words: the clock C, and the place P of a tag; both only grow. An invalidation is i1: c =
// ++C; i2: P = max(P, c); return. A value is made by v1: n = C; v2: its source is read; it is
// stored with n. A read finds it if P ≤ n.
//
//   - If v1 comes before i1, n < c. A read that begins after the return comes after i2: P ≥ c >
//     n, and the value is not found.
//   - If i1 comes before v1, the change that the call was made for came before v2, which has
//     read it.
//
// So no read that begins after the return finds a value whose making began before the call,
// wherever the read compares: a Get, a batch, a hot value, a load's answer, a look of Compute
// inside its step. A value that OpUpdate, Touch or ErrNotModified keep has its n still. C and P
// lie where the SSD tier's index does: a kill between i1 and i2 leaves a call that has not
// returned, and later values with n ≥ c. Close saves them after the last write has ended, and
// an invalidation that overlaps with it returns ErrClosed. Moved to fewer places, P is the
// latest of those that it replaces; to more, a copy: never lower. n counts only with the epoch
// of the table in which it was noted, so it is compared with no other C.
//
// An expiration does the same with a third word of the place, E, and a fourth, its moment M,
// stored before E and read after it; so a value with E > n is stale, since the call that stored
// E or a later one. Before that, if the last M is a grace ago, it raises P to the last E: by
// this caller's grace nothing comes back. Callers with other graces share M. A reader looks at
// P last. Before memory may become zeros, the table is ended: then nothing holds, and a read
// looks at that after P.
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
