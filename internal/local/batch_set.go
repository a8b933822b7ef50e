package local

// writeWindow is how many writes of a batch are one pass of the write protocol.
const writeWindow = 32

// SetMulti stores values[i] under keys[i], as many as it can, and returns the
// first error. each, if given, returns the deadline of every value.
func (s *Store) SetMulti(keys, values [][]byte, deadline int64, each func() int64) (first error) {
	for len(keys) > 0 {
		n := min(len(keys), writeWindow)
		if err := s.writeMulti(keys[:n], values[:n], deadline, each); first == nil {
			first = err
		}
		keys, values = keys[n:], values[n:]
	}
	return first
}

// writeMulti is the write protocol, as write follows it, for some Sets at once: each of
// its steps is done for all of them before the next one is.
func (s *Store) writeMulti(keys, values [][]byte, deadline int64, each func() int64) error {
	var tokens [writeWindow]any
	if h := s.hook.Load(); h != nil {
		for i, key := range keys {
			tokens[i] = (*h).BeforeWrite(key)
		}
	}
	at, err := s.RAM.SetMulti(keys, values, deadline, each)
	if h := s.hook.Load(); h != nil {
		for i, key := range keys {
			(*h).AfterWrite(key, tokens[i])
		}
	}
	if err != nil {
		err = s.writeError(err, keys[at], values[at])
	}
	s.KeepAlive()
	return err
}

// DeleteMulti removes many values, as many as it can, and returns the first error.
func (s *Store) DeleteMulti(keys [][]byte) (first error) {
	var hashes [writeWindow]uint64
	for len(keys) > 0 {
		n := min(len(keys), writeWindow)
		for i, key := range keys[:n] {
			hashes[i] = s.RAM.Prefetch(key)
		}
		for i, key := range keys[:n] {
			if err := s.Write(&Change{Op: OpRemove, Hash: hashes[i], Key: key}); first == nil {
				first = err
			}
		}
		keys = keys[n:]
	}
	return first
}
