package remote

import (
	"math/rand/v2"
	"time"

	"github.com/firncache/firn/internal/shared"
	"github.com/klauspost/compress/s2"
)

// newVersion names a write: no two have the same.
func newVersion() shared.Version { return shared.Version(1 + rand.Uint64N(1<<64-1)) }

// sealed is an entry as it is written.
type sealed struct {
	envelope []byte
	version  shared.Version
	px       time.Duration // how long the server keeps it; 0: for ever
}

// seal makes the envelope of an entry, under a new version. It is too large if its value is.
func (t *Tier) seal(e shared.Entry) (sealed, error) {
	if len(e.Value) > t.o.MaxValueBytes {
		t.count.tooLarge.Add(1)
		return sealed{}, shared.ErrTooLarge
	}
	h := header{version: newVersion()}
	if e.Deadline < 0 {
		h.flags, e.Deadline = flagNegative, -e.Deadline
	}
	px := t.setTimes(&h, e.Deadline)
	value := e.Value
	if packed := t.compress(value); packed != nil {
		value = packed
		h.flags |= flagS2
	}
	b := appendEnvelope(make([]byte, 0, envelopeLen+len(value)), h, value)
	return sealed{envelope: b, version: h.version, px: px}, nil
}

// setTimes sets deadline and expiry from a deadline in the store's time, and returns how long the
// server keeps the entry.
func (t *Tier) setTimes(h *header, deadline int64) (px time.Duration) {
	now := time.Now().UnixMilli()
	if deadline != 0 {
		left := max(deadline-t.storeNow(), 1)
		h.deadline = min(now+left, maxMillis)
		px = time.Duration(min(left, int64(maxPX/time.Millisecond))) * time.Millisecond
	}
	if ttl := t.o.TTL; ttl > 0 && (px == 0 || px > ttl) {
		px = ttl
	}
	if px > 0 {
		h.expiry = now + px.Milliseconds()
	}
	return px
}

// maxPX is the longest life that a server is asked for: 100 years.
const maxPX = 100 * 365 * 24 * time.Hour

// storeDeadline is a deadline of Unix time in the store's, below 0 a negative entry's.
func (t *Tier) storeDeadline(h header) int64 {
	if h.deadline == 0 {
		if h.flags&flagNegative != 0 {
			return -1 << 62
		}
		return 0
	}
	d := max(t.storeNow()+h.deadline-time.Now().UnixMilli(), 1)
	if h.flags&flagNegative != 0 {
		return -d
	}
	return d
}

func (t *Tier) storeNow() int64 {
	if l := t.local(); l != nil {
		return l.Now()
	}
	return 0
}

// compress is the value compressed, or nil if that does not save an eighth.
func (t *Tier) compress(value []byte) []byte {
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

// unpack appends a value to dst. It reports false if it is not what compress makes.
func (t *Tier) unpack(dst []byte, h header, value []byte) ([]byte, bool) {
	if h.flags&flagS2 == 0 {
		return append(dst, value...), true
	}
	n, err := s2.DecodedLen(value)
	if err != nil || n > t.o.MaxValueBytes {
		return dst, false
	}
	at := len(dst)
	dst = append(dst, make([]byte, n)...)
	if _, err := s2.Decode(dst[at:], value); err != nil {
		return dst[:at], false
	}
	return dst, true
}
