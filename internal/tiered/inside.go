package tiered

import "github.com/firncache/firn/internal/inside"

// Inside is what a page shows of the tiers beyond their figures. segments is room for the map
// of the log.
func (s *Store) Inside(segments []byte) (in inside.Inside) {
	in.Closed = s.ram.Closed()
	in.Segments = segments[:0]
	in.Health.SSD, in.Health.Shared = inside.None, inside.None
	if s.ssd != nil {
		in.Health.SSD = inside.Online
	}
	if s.shared != nil {
		in.Health.Shared = inside.Online
	}
	s.keepAlive()
	return in
}
