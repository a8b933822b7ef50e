package tiered

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/firncache/firn/internal/ram"
)

// ending is the end of a store, which has one.
type ending struct{ ended atomic.Pointer[chan struct{}] }

// begin reports whether the caller is the first, who calls end. Another returns when
// that was called, or with the error of ctx.
func (e *ending) begin(ctx context.Context) (first bool, err error) {
	ended := make(chan struct{}) // by whoever ends the store: it may have been opened in another bubble
	if e.ended.CompareAndSwap(nil, &ended) {
		return true, nil
	}
	before := *e.ended.Load()
	select {
	case <-before:
		return false, nil
	case <-ctx.Done():
	}
	select {
	case <-before: // whatever has become of ctx
		return false, nil
	default:
		return false, ctx.Err()
	}
}

func (e *ending) end() { close(*e.ended.Load()) }

// ShutdownError says that the store was closed before all was saved, and why. Package
// firn has one of the same fields.
type ShutdownError struct {
	Entries int64
	Bytes   int64
	Err     error
}

func (e *ShutdownError) Error() string {
	return fmt.Sprintf("firn: close the SSD tier: %v; %d entries of %d bytes are not saved", e.Err, e.Entries, e.Bytes)
}

func (e *ShutdownError) Unwrap() error { return e.Err }

// Shutdown ends the store and gives its memory back. The entries of RAM go to the SSD
// tier first, as far as ctx lets them: see pace. Whoever comes second waits for the
// first. OnEvict is called when nobody waits any more: it may call Shutdown, too.
func (s *Store) Shutdown(ctx context.Context) error {
	first, err := s.ending.begin(ctx)
	if !first {
		return err
	}
	var ev ram.Evicted
	unsent := s.shared.close(ctx)
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
func (s *Store) close(ctx context.Context, ev *ram.Evicted) error {
	if s.ssd == nil {
		s.ram.Close()
		return nil
	}
	s.ssd.evictions.closing.Store(true)
	var left ShutdownError
	if left.Err = s.demoteAll(ctx, ev); left.Err != nil {
		left.Entries, left.Bytes = s.ram.OnlyHere()
	}
	s.ram.Close()
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
func (s *Store) demoteAll(ctx context.Context, ev *ram.Evicted) error {
	t := s.ssd.tier
	p := newPace(ctx, t, s.ram.Len())
	ctx, cancel := context.WithDeadline(ctx, p.latest)
	defer cancel()
	defer context.AfterFunc(ctx, t.Hurry)()
	t.AdmitAll()
	more := func() bool { return ctx.Err() == nil && !p.late() && t.AwaitRoom() }
	all := false
	for range 3 { // a write, or a promotion under way, may move records to where the pass has been
		before := s.moves()
		lost, _, _ := t.Losses()
		if all = s.ram.DemoteAll(lost, more, ev); !all || s.moves() == before {
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
	st := s.ram.Stats()
	return st.Sets() + st.Promoted + st.Reinserted
}
