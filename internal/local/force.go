package local

import "bytes"

// Force makes happen, for tests, what room and time make happen otherwise. Package
// firntest has the user's words for it.
type Force struct{ s *Store }

// Evict takes a key's record out of both tiers. It does not read the disk.
func (f Force) Evict(key []byte) (ok bool) {
	ok = f.s.RAM.Evict(func(k []byte) bool { return bytes.Equal(k, key) }, false) > 0
	if hash := f.s.RAM.Hash(key); f.s.ssd != nil && f.s.ssd.Has(hash) {
		f.s.ssd.tier.Invalidate(hash)
		ok = true
	}
	f.s.KeepAlive()
	return ok
}

// EvictAll is Evict of all records. It reads the keys of those on the disk.
func (f Force) EvictAll() {
	f.s.RAM.Evict(func([]byte) bool { return true }, false)
	if f.s.ssd != nil {
		var hashes []uint64
		f.s.ssd.tier.All(func(hash uint64, _, _ []byte) bool {
			hashes = append(hashes, hash)
			return true
		})
		for _, hash := range hashes {
			f.s.ssd.tier.Invalidate(hash)
		}
	}
	f.s.KeepAlive()
}

// Demote takes the records that pick chooses out of RAM, to the SSD if there is
// one: they are on the disk when it returns, and in no buffer.
func (f Force) Demote(pick func(key []byte) bool) (n int) {
	n = f.s.RAM.Evict(pick, true)
	if f.s.ssd != nil {
		f.s.ssd.tier.WriteAll()
	}
	f.s.KeepAlive()
	return n
}

// Sweep takes the expired records out of RAM.
func (f Force) Sweep() {
	f.s.RAM.Sweep()
	f.s.KeepAlive()
}
