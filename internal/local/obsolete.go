package local

// obsoleteRecords recognizes records without a reader that were not deleted.
type obsoleteRecords struct {
	value    func(key, head []byte) bool
	negative func(value []byte) bool // nil: none is
}

// SetObsolete tells the store of records that nobody wants any more and that were not
// deleted: obsolete is shown a record's key and the first bytes of its value, of at
// least 256 if it has so many. Such a record is not demoted, promoted or moved any more, and
// Peek does not find it; the other reads do, for they do not ask. A negative entry is an
// answer as long as negative does not say that it may be obsolete; nil stands for none.
// Neither must use the store, nor keep it from being collected; both are called under locks.
func (s *Store) SetObsolete(obsolete func(key, head []byte) bool, negative func(value []byte) bool) {
	s.obsolete.Store(&obsoleteRecords{obsolete, negative})
	s.RAM.SetObsolete(obsolete)
	if s.ssd != nil {
		s.ssd.tier.SetObsolete(obsolete)
	}
	s.KeepAlive()
}

// IsObsolete reports whether nobody wants a record any more that has this value.
func (s *Store) IsObsolete(key, value []byte) bool {
	o := s.obsolete.Load()
	return o != nil && o.value(key, value)
}

// IsNegativeObsolete reports whether a negative entry with this value may be obsolete.
func (s *Store) IsNegativeObsolete(value []byte) bool {
	o := s.obsolete.Load()
	return o != nil && o.negative != nil && len(value) > 0 && o.negative(value)
}
