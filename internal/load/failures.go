package load

import (
	"bytes"
	"context"
)

// failures are the last loads of a shard's keys that failed: a ring, so that a source that
// is down takes no more memory the more keys are read. The oldest makes room for the
// next. Guarded by the shard's mu.
type failures struct {
	hashes [maxFailures]uint64 // apart, so that a search reads little
	last   [maxFailures]failure
	next   int
}

// failure is a load that failed.
type failure struct {
	key []byte
	at  int64 // in the store's time; 0: none
	err error // nil: a panic, or another process refreshes the key
}

const (
	// maxFailures is how many failures a shard remembers: with 64 shards, 4096 keys.
	maxFailures = 64
	// maxFailedKey is the length of the longest key whose failure is remembered, in bytes.
	maxFailedKey = 1 << 10
)

// find is the failure of a key, nil if there is none.
func (l *failures) find(hash uint64, key []byte) *failure {
	for i, h := range &l.hashes {
		if f := &l.last[i]; h == hash && f.at != 0 && bytes.Equal(f.key, key) {
			return f
		}
	}
	return nil
}

// noteEnd remembers that a load failed, or forgets that one of its key did. The caller
// holds mu of its shard.
func (g *engine) noteEnd(f *flight, res result) {
	s := f.shard
	l := s.failures.Load()
	failed := res.panicked != nil || isFailure(res.err)
	if !f.call.of.cfg.heedsFailures() || !failed && l == nil || res.closed || res.cached || f.abandoned || len(f.key) > maxFailedKey {
		return
	}
	if failed {
		g.note(f, res.err)
	} else if last := l.find(f.hash, f.key); last != nil {
		*last = failure{}
	}
}

// note remembers an error of a key, or nil if only its refreshes are to pause. The caller
// holds mu of its shard.
func (g *engine) note(f *flight, err error) {
	l := f.shard.failures.Load()
	if l == nil {
		l = new(failures)
		f.shard.failures.Store(l)
	}
	last := l.find(f.hash, f.key)
	if last == nil {
		l.hashes[l.next] = f.hash
		last, l.next = &l.last[l.next], (l.next+1)%maxFailures
	}
	*last = failure{key: f.key, at: g.store.Now(), err: err}
}

// lastFailure is the failure of a key that is less than so many milliseconds ago.
func (g *engine) lastFailure(hash uint64, key []byte, millis int64) (last failure, ok bool) {
	s := g.shardOf(hash)
	if s.failures.Load() == nil { // as a rule
		return last, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return g.lastFailureLocked(s, hash, key, millis)
}

// pausesRefresh reports whether a refresh of a key is not to begin, because a load of it
// failed a moment ago. The caller holds mu of its shard.
func (g *Group) pausesRefresh(s *shard, hash uint64, key []byte) bool {
	_, paused := g.lastFailureLocked(s, hash, key, millis(g.cfg.Retry()))
	if paused {
		g.count.paused.Add(1)
	}
	return paused
}

func (g *engine) lastFailureLocked(s *shard, hash uint64, key []byte, millis int64) (last failure, ok bool) {
	if l := s.failures.Load(); l != nil {
		if f := l.find(hash, key); f != nil {
			return *f, g.within(f.at, millis)
		}
	}
	return last, false
}

// joinPaused is joinOrBegin for a caller who is to get the error of the last load, unless
// another process has stored a value since: the shared tier is read, and nothing loaded.
func (g *Group) joinPaused(ctx context.Context, hash uint64, key []byte, load loader, remembered error) (*flight, error) {
	var call *loaderCall
	f, err := g.joinOrBegin(ctx, hash, key, &call)
	if call != nil {
		call.remembered = remembered
		g.start(call, load, paused)
	}
	return f, err
}

// pausedAnswer is the answer for a key without a fresh value, whose load
// failed a moment ago: the value that has expired, under
// StaleIfError, or the error, under ErrorTTL; None without either.
func (g *Group) pausedAnswer(ctx context.Context, hash uint64, dst, key []byte) (v []byte, came Outcome, err error) {
	last, ok := g.lastFailure(hash, key, max(millis(g.cfg.Retry()), millis(g.cfg.ErrorTTL)))
	if !ok || last.err == nil {
		return dst, None, nil
	}
	if g.within(last.at, millis(g.cfg.Retry())) {
		if v, came := g.staleFallback(ctx, hash, dst, key); came != None {
			g.count.paused.Add(1)
			g.count.staleOnError.Add(1)
			return v, came, nil
		}
	}
	if g.within(last.at, millis(g.cfg.ErrorTTL)) {
		if !g.store.HasShared() { // else joinPaused reads it
			g.count.errorHits.Add(1)
		}
		return dst, Negative, last.err
	}
	return dst, None, nil
}
