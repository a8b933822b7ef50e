package tiered

// Force makes happen, for tests, what room and time make happen otherwise. Package
// firntest has the user's words for it.
type Force struct{ s *Store }

// Force is what tests can force.
func (s *Store) Force() Force { return Force{s} }

// Evict takes the records of which pick reports true out of both tiers.
func (f Force) Evict(pick func(key []byte) bool) (n int) {
	n = f.s.ram.Evict(pick, false)
	if f.s.ssd != nil {
		var keys [][]byte
		f.s.ssd.tier.All(func(_ uint64, key, _ []byte) bool {
			if pick(key) {
				keys = append(keys, append([]byte(nil), key...))
			}
			return true
		})
		for _, key := range keys {
			f.s.ssd.tier.Invalidate(f.s.ram.Hash(key))
		}
		n += len(keys)
	}
	f.s.keepAlive()
	return n
}

// Demote takes the records of which pick reports true out of RAM, to the SSD if there is
// one: they are on the disk when it returns, and in no buffer.
func (f Force) Demote(pick func(key []byte) bool) (n int) {
	n = f.s.ram.Evict(pick, true)
	if f.s.ssd != nil {
		f.s.ssd.tier.WriteAll()
	}
	f.s.keepAlive()
	return n
}

// Sweep takes the expired records out of RAM.
func (f Force) Sweep() {
	f.s.ram.Sweep()
	f.s.keepAlive()
}
