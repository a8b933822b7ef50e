package sharedtest

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/firncache/firn/internal/shared"
)

func (t *Tier) Read(ctx context.Context, dst []byte, q shared.Query) (f shared.Found, err error) {
	return t.read(ctx, "Read", dst, q)
}

func (t *Tier) read(ctx context.Context, call string, dst []byte, q shared.Query) (f shared.Found, err error) {
	f.Value = dst
	stamp := t.present().Stamp(0)
	failed := t.request(ctx, call, string(q.Key), func() { err = t.look(t.server.find(string(q.Key)), q.Have, &f) })
	if f.Stamp = stamp; failed != nil {
		return shared.Found{Value: dst}, failed
	}
	return f, err
}

// look is what a reader sees of an entry.
func (t *Tier) look(e *entry, have shared.Version, f *shared.Found) error {
	if e == nil {
		return shared.ErrNotFound
	}
	if f.Version = e.version; e.kind != value {
		return shared.ErrNotFound
	}
	f.Deadline = t.toLocal(e.deadline)
	if f.Unchanged = e.version == have; !f.Unchanged {
		f.Value = append(f.Value, e.value...)
	}
	return nil
}

func (t *Tier) ReadMulti(ctx context.Context, queries []shared.Query, each func(i int, f shared.Found, err error)) {
	for i, q := range queries {
		f, err := t.read(ctx, "ReadMulti", nil, q)
		each(i, f, err)
	}
}

func (t *Tier) Write(ctx context.Context, e shared.Entry, expect shared.Expect) (w shared.Written, err error) {
	return t.write(ctx, "Write", e, expect)
}

func (t *Tier) write(ctx context.Context, call string, e shared.Entry, expect shared.Expect) (w shared.Written, err error) {
	if s := t.server; s.TooLarge != 0 && len(e.Value) >= s.TooLarge {
		return w, shared.ErrTooLarge
	}
	key, at := string(e.Key), value
	stored := append([]byte(nil), e.Value...)
	stamp := t.present().Stamp(0)
	failed := t.request(ctx, call, key, func() {
		if !t.server.expects(key, expect) {
			err = shared.ErrChanged
			return
		}
		deadline, until := t.toServer(e.Deadline)
		w = shared.Written{Version: t.server.put(key, entry{kind: at, value: stored, deadline: deadline, until: until}), Stamp: stamp}
		t.server.push(push{key: key})
	})
	if failed != nil {
		return shared.Written{}, failed
	}
	return w, err
}

func (t *Tier) WriteMulti(ctx context.Context, entries []shared.Entry, each func(i int, w shared.Written, err error)) {
	for i, e := range entries {
		w, err := t.write(ctx, "WriteMulti", e, shared.Anything)
		each(i, w, err)
	}
}

func (t *Tier) Remove(ctx context.Context, key []byte, expect shared.Expect) error {
	return t.remove(ctx, "Remove", key, expect)
}

func (t *Tier) remove(ctx context.Context, call string, k []byte, expect shared.Expect) (err error) {
	key := string(k)
	failed := t.request(ctx, call, key, func() {
		if !t.server.expects(key, expect) {
			err = shared.ErrChanged
			return
		}
		if t.server.Leases {
			t.server.take(key)
		} else {
			t.server.put(key, entry{kind: tombstone, until: t.server.now() + t.server.leaseTime().Milliseconds()})
		}
		t.server.push(push{key: key})
	})
	if failed != nil {
		return failed
	}
	return err
}

func (t *Tier) RemoveMulti(ctx context.Context, keys [][]byte, each func(i int, err error)) {
	for i, key := range keys {
		each(i, t.remove(ctx, "RemoveMulti", key, shared.Anything))
	}
}

func (t *Tier) Touch(ctx context.Context, k []byte, deadline int64) (w shared.Written, err error) {
	key := string(k)
	failed := t.request(ctx, "Touch", key, func() {
		e := t.server.find(key)
		if e == nil || e.kind != value || e.deadline < 0 || e.deadline != 0 && e.deadline <= t.server.now() {
			err = shared.ErrNotFound
			return
		}
		at, until := t.toServer(deadline)
		w = shared.Written{Version: t.server.put(key, entry{value: e.value, deadline: at, until: until}), Stamp: t.stamp()}
		t.server.push(push{key: key})
	})
	if failed != nil {
		return shared.Written{}, failed
	}
	return w, err
}

func (t *Tier) Clear(ctx context.Context) error {
	return t.request(ctx, "Clear", "", func() {
		for key := range t.server.entries {
			t.server.take(key)
			t.server.push(push{key: key})
		}
	})
}

func (t *Tier) Lease(ctx context.Context, dst []byte, q shared.Query) (x shared.Expect, found *shared.Found, err error) {
	key, f := string(q.Key), shared.Found{Value: dst, Stamp: t.present().Stamp(0)}
	failed := t.request(ctx, "Lease", key, func() {
		e := t.server.find(key)
		switch {
		case e == nil && t.server.Leases:
			v := t.server.put(key, entry{kind: lease, until: t.server.now() + t.server.leaseTime().Milliseconds()})
			t.server.push(push{key: key})
			x = shared.Expect{Version: v, Leased: v}
		case e == nil:
		case e.kind == lease:
			x, err = shared.Expect{Version: e.version}, shared.ErrLeased
		case e.kind == tombstone:
			x.Version = e.version
		default:
			_ = t.look(e, 0, &f)
			if e.version != q.Have {
				found = &f
			}
			x.Version = e.version
			x.Leased, err = t.leaseBeside(e, q.Have)
		}
	})
	if failed != nil {
		return shared.Expect{}, nil, failed
	}
	return x, found, err
}

// leaseBeside leases a value to a caller that loads it again: the one that it has, or one past its
// deadline.
func (t *Tier) leaseBeside(e *entry, have shared.Version) (shared.Version, error) {
	now := t.server.now()
	switch stale := e.deadline > 0 && e.deadline <= now; {
	case !t.server.Leases || e.version != have && !stale:
		return 0, nil
	case e.beside.until > now:
		return 0, shared.ErrLeased
	}
	e.beside = beside{newVersion(), now + t.server.leaseTime().Milliseconds()}
	return e.beside.version, nil
}

func (t *Tier) Await(ctx context.Context, key []byte, leased shared.Expect) error {
	s := t.server
	s.mu.Lock()
	e := s.find(string(key))
	if e == nil || e.version != leased.Version {
		s.mu.Unlock()
		return nil
	}
	changed, until := e.changed, e.until
	if e.kind == value {
		until = e.beside.until
	}
	s.mu.Unlock()
	wait := s.AwaitTime
	if wait == 0 {
		wait = s.leaseTime()
	}
	over := time.NewTimer(wait)
	defer over.Stop()
	var gone <-chan time.Time
	if until != 0 {
		end := time.NewTimer(time.Duration(until-s.now()) * time.Millisecond)
		defer end.Stop()
		gone = end.C
	}
	select {
	case <-changed: // which a process learns from the push
		t.deliver()
		t.awaitPushes()
		return nil
	case <-gone:
		return nil
	case <-over.C:
		return shared.ErrLeased
	case <-t.closed:
		return shared.ErrUnavailable
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (t *Tier) Release(k []byte, leased shared.Expect) {
	if t.isClosed() || t.offline.Load() {
		return
	}
	key, s := string(k), t.server
	defer s.deliver()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.author = t
	e := s.find(key)
	switch {
	case e == nil || leased.Leased == 0:
	case e.kind == lease && e.version == leased.Leased:
		s.take(key)
		s.push(push{key: key})
	case e.beside.version == leased.Leased:
		e.beside = beside{}
		close(e.changed)
		e.changed = make(chan struct{})
	}
}

func (t *Tier) Number(ctx context.Context, id shared.ID, renew bool) (n shared.NumberState, stamp shared.Stamp, err error) {
	return t.number(ctx, id, func(old shared.NumberState) shared.NumberState {
		if old.Value != 0 && !renew {
			return old
		}
		return shared.NumberState{Value: newNumber()}
	})
}

func (t *Tier) ExpireNumber(ctx context.Context, id shared.ID, now int64) (n shared.NumberState, stamp shared.Stamp, err error) {
	return t.number(ctx, id, func(old shared.NumberState) shared.NumberState {
		if old.Value == 0 {
			return shared.NumberState{Value: newNumber()}
		}
		return old.Expired(newNumber(), now)
	})
}

func newNumber() uint64 { return 1 + rand.Uint64N(1<<63) }

// number has change make the state of an id another.
func (t *Tier) number(ctx context.Context, id shared.ID, change func(shared.NumberState) shared.NumberState) (n shared.NumberState, stamp shared.Stamp, err error) {
	stamp = t.present().Stamp(0)
	err = t.request(ctx, "Number", string(id[:]), func() {
		old := t.server.numbers[id]
		if n = change(old); n.Value != old.Value {
			t.server.numbers[id] = n
			t.server.push(push{number: true, id: id})
		}
	})
	return n, stamp, err
}
