package fleet

import (
	"github.com/firncache/firn/internal/local"
	"github.com/firncache/firn/internal/shared"
)

// localCopy is what the local tiers have of an entry of the shared tier.
type localCopy struct {
	value    []byte // appended to dst; of a negative entry its tags
	version  shared.Version
	stamp    shared.Stamp
	deadline int64 // in the store's time, 0 for never; below 0 a negative entry's
	at       local.Place
	state    local.State // Miss: there is no copy
	trusted  bool
}

// shortened reports whether the copy does not live as long as its entry.
func (c *localCopy) shortened() bool { return c.stamp&shared.Shortened != 0 }

// answers reports whether the copy is an answer without a request to the shared tier: a value,
// though a stale one, or that there is none.
func (c *localCopy) answers() bool {
	return c.state != local.Miss && c.trusted && !(c.shortened() && c.state == local.Stale)
}

// answer is what a lookup in all tiers has found.
type answer struct {
	localCopy
	known bool // the deadline is that of the entry
}

// found is the answer of a lookup that shows fresh values alone.
func (a *answer) found(dst []byte, err error) ([]byte, error) {
	switch {
	case err != nil:
		return dst, err
	case a.state != local.Fresh:
		return dst, local.ErrNotFound
	}
	return a.value, nil
}
