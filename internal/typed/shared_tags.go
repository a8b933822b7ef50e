package typed

import (
	"context"
	"encoding/binary"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/firncache/firn/internal/fleet"
	"github.com/firncache/firn/internal/local"
	"github.com/firncache/firn/internal/registry"
	"github.com/firncache/firn/internal/shared"
)

// The numbers of tags' places, on which all processes agree. A number that the shared tier has
// lost is another when it is fetched again, and so all values that have it are obsolete.

// secretID is the id of the secret.
var secretID = registry.PlaceID(registry.Secret, 0)

// appendShared is Append with a shared tier, and AppendNow with no moment.
func (t *Tags) appendShared(ctx context.Context, dst []byte, begun *fleet.Moment, l *ids) ([]byte, error) {
	for i := range l.n {
		l.ids[i] = l.ids[i].SharedPlace()
	}
	return t.appendPlaces(ctx, dst, begun, l.ids[:l.n])
}

// appendPlaces is appendShared for the places of tags.
func (t *Tags) appendPlaces(ctx context.Context, dst []byte, begun *fleet.Moment, tags []registry.ID) ([]byte, error) {
	var places [MaxTags + 1]registry.ID
	var numbers [MaxTags + 1]uint64
	n := copy(places[:], tags)
	places[n] = secretID
	err := atOnce(n+1, func(i int) (err error) {
		if begun != nil && i < n {
			if numbers[i] = t.numbers.NumberAt(ctx, *begun, places[i]); numbers[i] == 0 {
				err = errUnknownNumber
			}
			return err
		}
		c, err := t.numbers.Get(ctx, places[i])
		if err == nil {
			numbers[i] = c.Value
		}
		return err
	})
	if err != nil {
		return dst, err
	}
	dst = append(sharedTagFormat.Append(dst), byte(n))
	from := len(dst)
	dst = binary.LittleEndian.AppendUint64(dst, 0)
	for i := range n {
		dst = binary.LittleEndian.AppendUint32(dst, places[i].Place())
		dst = binary.LittleEndian.AppendUint64(dst, numbers[i])
	}
	binary.LittleEndian.PutUint64(dst[from:], registry.Seal(numbers[n], dst[from+sharedSealLen:]))
	return dst, nil
}

var errUnknownNumber = errors.New("a tag may have been invalidated since")

// atOnce calls f for the numbers below n, in as much time as one call may wait, and returns an
// error of them.
func atOnce(n int, f func(i int) error) error {
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := 1; i < n; i++ {
		all.Go(func() { errs[i] = f(i) })
	}
	errs[0] = f(0)
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// holdShared is Hold with a shared tier.
func holdShared(n *fleet.Numbers, h Head) bool {
	for place, number := range h.pairs {
		if c := n.Find(place); !n.Holds(c) || c.Value != number {
			return false
		}
	}
	return true
}

// judgeShared reports whether a value is known to be obsolete, or since when it is stale, and to be a
// tagged one.
func judgeShared(n *fleet.Numbers, h Head) (obsolete bool, since int64) {
	for place, number := range h.pairs {
		c := n.Find(place)
		if !n.Holds(c) || c.Value == number {
			continue
		}
		at := c.StaleSince(number)
		if at == 0 {
			return isSealed(n, h), 0
		}
		if since == 0 || at < since {
			since = at
		}
	}
	if since != 0 && !isSealed(n, h) {
		since = 0
	}
	return false, since
}

// isSealed reports whether a head is known to be one.
func isSealed(n *fleet.Numbers, h Head) bool {
	secret, note := n.Find(secretID), h.note()
	return secret != nil && binary.LittleEndian.Uint64(note) == registry.Seal(secret.Value, note[sharedSealLen:])
}

// placesOf are the places of a head's tags, as ids.
func placesOf(h Head) (l ids) {
	for place := range h.pairs {
		l.ids[l.n] = place
		l.n++
	}
	return l
}

// checkShared is Check with a shared tier. The numbers that it needs are requested at once.
func (t *Tags) checkShared(ctx context.Context, h Head) error {
	if !shared.CallOf(ctx).SkipLocal && holdShared(t.numbers, h) {
		return nil
	}
	var places [MaxTags]registry.ID
	var numbers [MaxTags]uint64
	n := 0
	for place, number := range h.pairs {
		places[n], numbers[n] = place, number
		n++
	}
	var expired atomic.Bool
	err := atOnce(n, func(i int) error {
		err := t.checkNumber(ctx, places[i], numbers[i])
		if err == ErrExpired { // unless another tag was invalidated
			expired.Store(true)
			return nil
		}
		return err
	})
	if err == nil && expired.Load() {
		return t.checkExpired(ctx, h)
	}
	return err
}

// checkExpired is ErrExpired, from when on judgeShared knows it, too.
func (t *Tags) checkExpired(ctx context.Context, h Head) error {
	_, err := t.numbers.GetToRead(ctx, secretID, t.numbers.Find(secretID))
	switch {
	case err != nil:
		return err
	case !isSealed(t.numbers, h):
		return ErrObsolete
	}
	return ErrExpired
}

// checkNumber compares a place's number with the latest. One that differs from a copy may be newer
// than that, if a push is under way: so the tier decides before the value is deleted.
func (t *Tags) checkNumber(ctx context.Context, place registry.ID, number uint64) error {
	known := t.numbers.Find(place)
	c, err := t.numbers.GetToRead(ctx, place, known)
	if err == nil && c == known && c.Value != number {
		if shared.CallOf(ctx).SkipShared || !t.numbers.Holds(known) {
			return local.ErrNotFound
		}
		c, err = t.numbers.Ask(ctx, place)
	}
	switch {
	case err != nil:
		return err
	case c.Value == number:
		return nil
	}
	if since := c.StaleSince(number); since != 0 && !t.store.IsPastGrace(since) {
		return ErrExpired
	}
	return ErrObsolete
}
