package tiered

// SetObsolete tells the store of records that nobody wants any more and that were not
// deleted: obsolete is shown a record's key and the first bytes of its value, of at
// least headBytes if it has so many. It must not use the store, and is called under
// locks. Such a record is not demoted, promoted or moved any more, and Peek does not
// find it; the other reads do, for they do not ask.
func (s *Store) SetObsolete(obsolete func(key, head []byte) bool) {
	s.obsolete.Store(&obsolete)
	s.ram.SetObsolete(obsolete)
	if s.ssd != nil {
		s.ssd.tier.SetObsolete(obsolete)
	}
	s.keepAlive()
}

// IsObsolete reports whether nobody wants a record any more that has this value.
func (s *Store) IsObsolete(key, value []byte) bool {
	f := s.obsolete.Load()
	return f != nil && (*f)(key, value)
}
