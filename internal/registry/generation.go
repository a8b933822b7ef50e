package registry

import "encoding/binary"

// Generation is the number that the keys of a namespace begin with. It is the same in the next
// process, until the namespace is cleared, or another one of its place, and was never that of
// the namespace before then.
//
// One exception serves those who lose the table and not what lies under its generations,
// which SSDOptions.Recovery allows on request: the first generation of a namespace is made of
// its id and the seed alone, so the next table has the same. With RecoverAlways, and a table
// that is lost with the memory of the machine, a cleared namespace is therefore found as it
// was before it was first cleared: as outdated as everything that is found then.
func (t *Table) Generation(id ID) uint64 {
	salt := t.head.base.Load()
	if c := t.at(t.hash(id)).cleared.Load(); c > 0 {
		salt = mixed(c, t.epoch, t.seed)
	}
	return GenerationOf(id, salt, t.seed)
}

// GenerationOf is the generation of a namespace under a salt, with a seed: never 0.
func GenerationOf(id ID, salt, seed uint64) uint64 {
	g := mixed(binary.LittleEndian.Uint64(id[:8]), id.Hash(), seed)
	if salt != 0 {
		g = mixed(g, salt, seed)
	}
	return max(g, 1)
}

// Clear gives a namespace another generation, which it never had, and returns it. Namespaces
// of the same place get another one, too.
func (t *Table) Clear(id ID) (generation uint64) {
	raise(&t.at(t.hash(id)).cleared, t.head.clock.Add(1))
	return t.Generation(id)
}
