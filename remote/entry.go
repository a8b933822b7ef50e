package remote

import (
	"slices"
	"time"

	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/remote/internal/entry"
	"github.com/klauspost/compress/s2"
)

// sealed is an entry as it is written.
type sealed struct {
	envelope []byte
	version  shared.Version
	px       time.Duration // how long the server keeps it; 0: for ever
}

// seal makes the envelope of an entry, under a new version. It is too large if its value is.
func (t *sharedTier) seal(e shared.Entry) (sealed, error) {
	if len(e.Value) > t.o.MaxValueBytes {
		t.count.tooLarge.Add(1)
		return sealed{}, shared.ErrTooLarge
	}
	h := entry.Header{Version: entry.NewVersion()}
	if e.Deadline < 0 {
		h.Flags, e.Deadline = entry.FlagNegative, -e.Deadline
	}
	px := t.setTimes(&h, e.Deadline)
	value := e.Value
	if packed := t.compress(value); packed != nil {
		value = packed
		h.Flags |= entry.FlagS2
	}
	b := entry.Append(make([]byte, 0, entry.Len+len(value)), h, value)
	return sealed{envelope: b, version: h.Version, px: px}, nil
}

// setTimes sets deadline and expiry from a deadline in the store's time, and returns how long the
// server keeps the entry: for the store's grace after the deadline.
func (t *sharedTier) setTimes(h *entry.Header, deadline int64) (px time.Duration) {
	now, grace := t.storeTimes()
	if deadline != 0 {
		h.Deadline = min(deadline+t.unixOffset.Load(), entry.MaxMillis)
		left := max(deadline-now, 0)
		if h.Flags&entry.FlagNegative == 0 {
			left += grace
		}
		px = time.Duration(min(max(left, 1), maxPX.Milliseconds())) * time.Millisecond
	}
	if ttl := t.o.TTL; ttl > 0 && (px == 0 || px > ttl) {
		px = ttl
	}
	if px > 0 {
		h.Expiry = now + t.unixOffset.Load() + px.Milliseconds()
	}
	return px
}

// maxPX is the longest life that an entry gets: 100 years.
const maxPX = 100 * 365 * 24 * time.Hour

// storeDeadline is an entry's deadline in the store's time, below 0 a negative entry's.
func (t *sharedTier) storeDeadline(h entry.Header) (deadline int64) {
	if h.Deadline != 0 {
		deadline = max(h.Deadline-t.unixOffset.Load(), 1)
	}
	if h.Flags&entry.FlagNegative != 0 {
		return min(-deadline, -1)
	}
	return deadline
}

// storeTimes are the store's time and grace, in milliseconds.
func (t *sharedTier) storeTimes() (now, grace int64) {
	if l := t.local(); l != nil {
		return l.Now(), l.Grace()
	}
	return 0, 0
}

// compress is the value compressed, or nil if that does not save an eighth.
func (t *sharedTier) compress(value []byte) []byte {
	if t.o.CompressAbove < 0 || len(value) < t.o.CompressAbove {
		return nil
	}
	packed := s2.Encode(nil, value)
	if len(packed) > len(value)-len(value)/8 {
		return nil
	}
	t.count.compressed.Add(1)
	return packed
}

// unpack appends a value to dst. Its errors are ErrTooLarge, and others for what compress does not
// make.
func (t *sharedTier) unpack(dst []byte, h entry.Header, value []byte) ([]byte, error) {
	if h.Flags&entry.FlagS2 == 0 {
		return append(dst, value...), nil
	}
	n, err := s2.DecodedLen(value)
	if err != nil {
		return dst, err
	}
	if n > t.o.MaxValueBytes {
		return dst, shared.ErrTooLarge
	}
	at := len(dst)
	dst = slices.Grow(dst, n)[:at+n]
	_, err = s2.Decode(dst[at:], value)
	if err != nil {
		return dst[:at], err
	}
	return dst, nil
}
