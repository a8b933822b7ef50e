package sharedtest

// ForgetNumbers loses the numbers, as a server does that evicts or is emptied, and informs every
// tier.
func (s *Server) ForgetNumbers() {
	s.mu.Lock()
	for id := range s.numbers {
		delete(s.numbers, id)
		for _, t := range s.tiers {
			t.pushes = append(t.pushes, push{number: true, id: id})
		}
	}
	s.mu.Unlock()
	s.deliver()
}
