package servertest

// Kill ends the process at once, as kill -9 does. Nothing happens if it does not run.
func (s *Server) Kill() {
	if s.process != nil {
		s.process.kill()
		s.process = nil
	}
}

// Stop ends the process orderly.
func (s *Server) Stop() {
	s.t.Helper()
	if s.process == nil {
		return
	}
	if s.frozen {
		s.Thaw()
	}
	if err := s.process.terminate(); err != nil {
		s.t.Fatal(err)
	}
	s.process = nil
}

// Restart starts the process again, at the same address, without data, after Kill or Stop;
// it kills one that runs.
func (s *Server) Restart() {
	s.t.Helper()
	s.Kill()
	if err := s.run(); err != nil {
		s.t.Fatalf("%s at %s again: %v\n%s", s.Binary.Path, s.Addr, err, s.log.text())
	}
}

// Freeze stops the process in its tracks; its connections stay.
func (s *Server) Freeze() {
	s.t.Helper()
	if err := s.process.freeze(); err != nil {
		s.t.Fatal(err)
	}
	s.frozen = true
}

// Thaw lets it go on.
func (s *Server) Thaw() {
	s.t.Helper()
	if err := s.process.thaw(); err != nil {
		s.t.Fatal(err)
	}
	s.frozen = false
}

// Answers reports whether the process runs and is not frozen.
func (s *Server) Answers() bool { return s.process != nil && !s.frozen }
