package typed

import (
	"context"
	"encoding/binary"
	"errors"
	"sync"

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
	var places [MaxTags + 1]registry.ID
	var numbers [MaxTags + 1]uint64
	for i := range l.n {
		places[i] = l.ids[i].SharedPlace()
	}
	places[l.n] = secretID
	err := atOnce(l.n+1, func(i int) (err error) {
		if begun != nil && i < l.n {
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
	dst = append(sharedTagFormat.Append(dst), byte(l.n))
	from := len(dst)
	dst = binary.LittleEndian.AppendUint64(dst, 0)
	for i := range l.n {
		dst = binary.LittleEndian.AppendUint32(dst, places[i].Place())
		dst = binary.LittleEndian.AppendUint64(dst, numbers[i])
	}
	binary.LittleEndian.PutUint64(dst[from:], registry.Seal(numbers[l.n], dst[from+sharedSealLen:]))
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

// obsoleteShared reports whether a value is known to be obsolete, and to be a tagged one.
func obsoleteShared(n *fleet.Numbers, h Head) bool {
	for place, number := range h.pairs {
		if c := n.Find(place); n.Holds(c) && c.Value != number {
			secret, note := n.Find(secretID), h.note()
			return secret != nil && binary.LittleEndian.Uint64(note) == registry.Seal(secret.Value, note[sharedSealLen:])
		}
	}
	return false
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
	return atOnce(n, func(i int) error { return t.checkNumber(ctx, places[i], numbers[i]) })
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
	case c.Value != number:
		return ErrObsolete
	}
	return nil
}
