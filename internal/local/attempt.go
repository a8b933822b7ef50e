package local

import (
	"bytes"
	"context"
	"errors"
	"sync"

	"github.com/firncache/firn/internal/evicted"
	"github.com/firncache/firn/internal/ssd"
	"github.com/firncache/firn/internal/watch"
)

// Attempt is one try to change a key by what it holds. No lock is held between its calls,
// which are, in this order:
//
//	s.Begin(a, key)                   from here on, writes of the key are noticed
//	s.Look(ctx, a, dst)               what it holds, or an error: nothing is known then
//	s.Replace(a, …), or s.Update, s.Remove    ErrChanged if it was written since Begin
//	s.End(a)
//
// What moves a record between the tiers, evicts it or lets it expire is no write. So what is
// written was made of the key's latest value, and of several attempts that found the same value
// one writes. A conflict is another's write, so one of the writers always succeeds.
//
//   - Absent is absent in both tiers at one moment. Two looks may both miss a moving record, so
//     a miss in both is looked at once more under the shard's lock, where nothing moves:
//     neither tier has a record, or the lower one another key's. From there on only a write can
//     make it present, and that ends the watch.
//   - While Clear is between the tiers the watch may have begun behind it, so what lies on the
//     SSD counts as gone: nothing made of it is stored where Clear has been.
//   - An entry may be evicted after the look: that is no write, and the write happens. A Get in
//     between misses it.
//
// The zero Attempt is ready for use, and for use again after End.
type Attempt struct {
	Watch watch.Watch
	Key   []byte
	ev    evicted.List
}

// Begin begins an attempt. The caller keeps the key as it is until End.
func (s *Store) Begin(a *Attempt, key []byte) {
	a.Key = key
	s.Watch(&a.Watch, s.Prefetch(key), key)
}

// End ends an attempt, whatever came of it.
func (s *Store) End(a *Attempt) {
	if !a.Watch.Voided() { // it has not ended by itself
		s.Unwatch(&a.Watch)
	}
	a.Key = nil
}

// Look appends the value of the attempt's key to dst, and returns its deadline, 0 for
// never. Without a live value it reports false, and dst as it was; if it is not known whether
// there is one, the error says why: it is one of Lookup's, or ErrChanged if the
// attempt has failed. It counts as a read.
func (s *Store) Look(ctx context.Context, a *Attempt, dst []byte) (value []byte, deadline int64, ok bool, err error) {
	value, deadline, ok = s.RAM.GetWithDeadline(dst, a.Key)
	switch {
	case ok:
	case s.ssd != nil:
		value, deadline, ok, err = s.lookBelow(ctx, a, dst, s.answer)
	default:
		if err = s.MissError(ctx); err == ErrNotFound {
			err = nil
		}
	}
	s.KeepAlive()
	return value, deadline, ok, err
}

// lookBelow is Look for a key that RAM did not have. found is called for a value that is on
// the SSD, and returns its deadline: answer for a read, promote for what is none.
func (s *Store) lookBelow(ctx context.Context, a *Attempt, dst []byte, found func(hash uint64, key, value []byte, f *ssd.Found) int64) (value []byte, deadline int64, ok bool, err error) {
	hash := a.Watch.Hash()
	for ctx.Err() == nil && !a.Watch.Voided() {
		f, err := s.getUncleared(ctx, dst, a.Key, hash)
		if err == nil {
			return f.Value, found(hash, a.Key, f.Value[len(dst):], &f), true, nil
		}
		if v, deadline, ok := s.RAM.Peek(hash, dst, a.Key); ok { // though it may be obsolete: so it is not Absent
			return v, deadline, true, nil
		}
		missing := errors.Is(err, ssd.ErrNotFound)
		switch {
		case s.RAM.Closed() || !missing && !errors.Is(err, ssd.ErrChanged):
			return dst, 0, false, s.lookupError(ctx, err)
		case missing && s.RAM.Absent(hash, a.Key, func() bool { return s.ssd.lacks(hash, f.Token) }):
			s.RAM.ObserveLower(hash, false, len(a.Key), 0, 0)
			return dst, 0, false, nil
		}
	}
	if err = ctx.Err(); err == nil {
		err = ErrChanged
	}
	return dst, 0, false, err
}

// getUncleared is Get of the SSD tier for a watched key. While both tiers are being cleared,
// what is there is gone: if Clear has been where the key is watched, the watch does not
// notice that any more.
func (s *Store) getUncleared(ctx context.Context, dst, key []byte, hash uint64) (ssd.Found, error) {
	if s.ssd.clearing.Load() != 0 {
		return ssd.Found{}, ssd.ErrNotFound
	}
	return s.ssd.tier.Get(ctx, dst, key, hash)
}

// Replace stores a value for the attempt's key. It fails with ErrChanged if the key was
// written since Begin, and as Set does. A deadline of 0 is never.
func (s *Store) Replace(a *Attempt, value []byte, deadline int64) error {
	return s.attempt(a, &Change{Op: OpSetIf, Value: value, Deadline: deadline})
}

// Update is Replace that keeps the deadline that the key has by now: a Touch since the look
// counts as no write, and is heeded though the record has left RAM since, or expired. The one
// given is that of Look.
func (s *Store) Update(a *Attempt, value []byte, deadline int64) error {
	return s.attempt(a, &Change{Op: OpUpdateIf, Value: value, Deadline: deadline})
}

// Remove deletes the attempt's key, as Replace stores.
func (s *Store) Remove(a *Attempt) error { return s.attempt(a, &Change{Op: OpRemoveIf}) }

func (s *Store) attempt(a *Attempt, w *Change) error {
	w.Key, w.Watch, w.Evicted = a.Key, &a.Watch, &a.ev
	err := s.Write(w)
	a.ev.Notify()
	return err
}

// DeleteIfEqual removes stored, which was read as the value of key, if the key has it still,
// in whichever tier. Where it has another value by now, or none, nothing is written: a load
// that has begun meanwhile goes on.
func (s *Store) DeleteIfEqual(ctx context.Context, key, stored []byte) error {
	var a Attempt
	s.Begin(&a, key) // and then look: a write is either seen or noticed
	defer s.End(&a)
	b := GetScratch()
	defer PutScratch(b)
	v, deadline, err := s.findStale(ctx, a.Watch.Hash(), b.Bytes[:0], a.Key)
	b.Bytes = v
	if err == ErrNotFound {
		return nil
	}
	if err != nil || deadline < 0 || !bytes.Equal(v, stored) {
		return err
	}
	return UnlessChanged(s.Remove(&a))
}

// Scratch is memory for one value.
type Scratch struct{ Bytes []byte }

// maxScratch is how much of it is kept.
const maxScratch = 64 << 10

var scratches = sync.Pool{New: func() any { return new(Scratch) }}

// GetScratch takes memory that may hold some bytes.
func GetScratch() *Scratch { return scratches.Get().(*Scratch) }

// PutScratch gives it back.
func PutScratch(b *Scratch) {
	if cap(b.Bytes) <= maxScratch {
		scratches.Put(b)
	}
}
