package firn

type Stats struct {
	Hits, Misses, Sets, Evictions uint64
	Entries                       int64
	RAMBytes                      int64
}

func (c *Cache) Stats() Stats {
	st := c.ram.Stats()
	return Stats{Hits: st.Hits, Misses: st.Misses, Sets: st.Sets, Evictions: st.Evicted, Entries: st.Entries, RAMBytes: st.Used}
}
