package local

import (
	"context"

	"github.com/firncache/firn/internal/evicted"
)

// Shutdown ends the store and gives its memory back. The entries of RAM go to the SSD
// tier first, as far as ctx lets them: see pace. A second call waits for the
// first. OnEvict is called when no call waits any more: it may call Shutdown, too.
func (s *Store) Shutdown(ctx context.Context) error {
	first, err := s.ending.begin(ctx)
	if !first {
		return err
	}
	var ev evicted.List
	var unsent error
	if s.above != nil {
		unsent = s.above(ctx)
	}
	s.mirror.stop()
	s.emptied(true, func() { err = s.close(ctx, &ev) })
	s.ending.end()
	ev.Notify()
	if err == nil {
		err = unsent
	}
	return err
}

// Close is Shutdown that takes its time.
func (s *Store) Close() error { return s.Shutdown(context.Background()) }

// close closes the tiers. Records that leave meanwhile are added to ev.
func (s *Store) close(ctx context.Context, ev *evicted.List) error {
	if s.ssd == nil {
		s.RAM.Close()
		return nil
	}
	s.ssd.evictions.closing.Store(true)
	var left ShutdownError
	if left.Err = s.demoteAll(ctx, ev); left.Err != nil {
		left.Entries, left.Bytes = s.RAM.OnlyHere()
	}
	s.RAM.Close()
	if err := s.ssd.tier.Close(ctx); err != nil {
		left.Err = err
	}
	if left.Err == nil {
		return nil
	}
	n, size := s.ssd.tier.Lost()
	left.Entries += n
	left.Bytes += size
	return &left
}

// demoteAll gives the SSD tier copies of all that is in RAM. The error says why not of
// all.
func (s *Store) demoteAll(ctx context.Context, ev *evicted.List) error {
	t := s.ssd.tier
	p := newPace(ctx, t, s.RAM.Len())
	ctx, cancel := context.WithDeadline(ctx, p.latest)
	defer cancel()
	defer context.AfterFunc(ctx, t.Hurry)()
	t.AdmitAll()
	more := func() bool { return ctx.Err() == nil && !p.late() && t.AwaitRoom() }
	all := false
	for range 3 { // a write, or a promotion under way, may move records to where the pass has been
		before := s.moves()
		lost, _, _ := t.Losses()
		if all = s.RAM.DemoteAll(lost, more, ev); !all || s.moves() == before {
			break
		}
	}
	switch {
	case all:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case p.late():
		return context.DeadlineExceeded
	}
	return t.WhyNoRoom()
}

// moves counts what may move records in RAM.
func (s *Store) moves() uint64 {
	st := s.RAM.Stats()
	return st.Sets() + st.Promoted + st.Reinserted
}
