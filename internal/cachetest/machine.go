package cachetest

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"time"
)

// Store is a cache under test.
type Store interface {
	Get(dst, key []byte) ([]byte, bool)
	Set(key, value []byte, ttl time.Duration) error
	Delete(key []byte) error
	Has(key []byte) bool
	TTL(key []byte) (time.Duration, bool)
	Touch(key []byte, ttl time.Duration) (ok bool, err error) // or ErrSkipped, if it has done nothing
	GetMulti(keys [][]byte) (values [][]byte, ok []bool)
	SetMulti(keys, values [][]byte) error
	All(yield func(key, value []byte) bool)
	Len() int
	Clear() error
	SetBytes(n int64) error
	Sweep()
	TooLarge(err error) bool // the error says that a record is too large
	Check() error            // of everything inside
}

// Forever is the TTL of what never expires, as firn.Forever.
const Forever time.Duration = math.MaxInt64

// ErrSkipped is a Touch's that was not done.
var ErrSkipped = errors.New("not touched")

// Cause says why an entry left, in the words of the caches under test.
type Cause uint8

// The causes, in their order.
const (
	Capacity Cause = iota
	Expired
	Replaced
	Deleted
)

// Source is where a Machine's choices come from.
type Source interface {
	Below(n int) int // 0 ≤ result < n
}

// Machine calls a Store and compares every answer with a model. It makes one
// call at a time, but entries may expire meanwhile in a goroutine of the Store.
type Machine struct {
	Store Store
	Clock *Clock
	Bytes int64                              // the budget
	Keys  [][]byte                           // that it uses, none longer than 1/20 of the budget
	Slid  func(deadline time.Time) time.Time // of a value that is read; nil: as it was
	Rest  func()                             // returns when no goroutine of the Store is at work, as synctest.Wait; nil: that is tried again and again

	start int64 // the first budget

	src    Source
	seq    uint64
	op     string
	opKeys [][]byte // that the call under way writes

	mu   sync.Mutex
	held map[string][]version // what each key's entry was and is, oldest first
	err  error                // the first thing that was wrong
}

// version is one value of a key: it is held until the event that it left.
type version struct {
	seq      uint64
	value    []byte
	deadline time.Time // zero: never
}

func (v *version) expired(now time.Time) bool { return !v.deadline.IsZero() && !now.Before(v.deadline) }

// fail notes an error. The caller holds mu.
func (m *Machine) fail(format string, args ...any) {
	if m.err == nil {
		m.err = fmt.Errorf(m.op+": "+format, args...)
	}
}

// Evicted is to be called for every entry that leaves the store.
func (m *Machine) Evicted(key, value []byte, cause Cause) {
	m.mu.Lock()
	defer m.mu.Unlock()
	held := m.held[string(key)]
	if len(held) == 0 {
		m.fail("key %x left for cause %d, and was not there", head(key), cause)
		return
	}
	i := m.leaves(held, value, cause)
	v := held[i]
	if !bytes.Equal(v.value, value) {
		m.fail("key %x left with %d bytes %x: want %d bytes %x", head(key), len(value), head(value), len(v.value), head(v.value))
	}
	if expired := v.expired(m.Clock.Now()); expired != (cause == Expired) && cause != Deleted {
		m.fail("key %x left for cause %d; it is past its time: %v", head(key), cause, expired)
	}
	if (cause == Replaced || cause == Deleted) && !m.writes(key) {
		m.fail("key %x left for cause %d", head(key), cause)
	}
	m.held[string(key)] = slices.Delete(held, i, i+1)
}

// leaves is which of a key's versions an event is about: what was deleted is the
// newest, anything else the oldest. But the event of an expired one may be on
// its way in the Store's goroutine, and then one that came later is reported first.
func (m *Machine) leaves(held []version, value []byte, cause Cause) int {
	if cause == Deleted {
		return len(held) - 1
	}
	now := m.Clock.Now()
	for i := range held {
		if bytes.Equal(held[i].value, value) && held[i].expired(now) == (cause == Expired) {
			return i
		}
		if !held[i].expired(now) {
			break
		}
	}
	return 0
}

func (m *Machine) writes(key []byte) bool {
	for _, k := range m.opKeys {
		if bytes.Equal(k, key) {
			return true
		}
	}
	return false
}

// current is the live value of a key. The caller holds mu.
func (m *Machine) current(key []byte) (v version, ok bool) {
	held := m.held[string(key)]
	if len(held) == 0 {
		return v, false
	}
	v = held[len(held)-1]
	return v, !v.expired(m.Clock.Now())
}

// slide moves the deadline of a value that was read. The caller holds mu.
func (m *Machine) slide(key []byte) {
	held := m.held[string(key)]
	if v := &held[len(held)-1]; m.Slid != nil && !v.deadline.IsZero() {
		v.deadline = m.Slid(v.deadline)
	}
}

// Shortened is to be called if the store has lost what a Touch added to the life of a
// value, of which a write of many keys may have newer versions under way.
func (m *Machine) Shortened(key, value []byte, ttl time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	held, to := m.held[string(key)], m.Clock.Now().Add(ttl)
	i := slices.IndexFunc(held, func(v version) bool { return bytes.Equal(v.value, value) })
	switch {
	case i < 0:
		m.fail("key %x is not there, and expires earlier", head(key))
	case !held[i].deadline.IsZero() && to.After(held[i].deadline):
		m.fail("key %x expires in %v, which is not earlier", head(key), ttl)
	default:
		held[i].deadline = to
	}
}

// settle is called after a write: of each key at most one entry may be left,
// besides expired ones whose event is on its way.
func (m *Machine) settle(keys [][]byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.Clock.Now()
	for _, key := range keys {
		held := m.held[string(key)]
		for i := range max(0, len(held)-1) {
			if !held[i].expired(now) {
				m.fail("key %x has %d entries at once", head(key), len(held))
			}
		}
	}
}

// Step makes one call. It returns the first thing that was wrong, of this call
// and of all before.
func (m *Machine) Step(src Source) error {
	if m.held == nil {
		m.held, m.start = map[string][]version{}, m.Bytes
	}
	m.src = src
	op := ops[src.Below(len(ops))]
	m.mu.Lock()
	m.op = op.name
	m.mu.Unlock()
	op.run(m)
	m.mu.Lock()
	m.opKeys = nil
	err := m.err
	m.mu.Unlock()
	if err == nil {
		err = m.Store.Check()
	}
	return err
}

// Finish compares everything, and clears the store: then everything that ever
// was there has left, and was reported.
func (m *Machine) Finish() error {
	m.mu.Lock()
	m.op = "at the end"
	m.mu.Unlock()
	for _, key := range m.Keys {
		m.get(key)
	}
	m.all()
	if m.err == nil {
		m.err = m.Store.Check()
	}
	m.clear()
	m.rest()
	if m.untold() {
		m.mu.Lock()
		m.fail("entries left without an event")
		m.mu.Unlock()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.err
}

// rest waits for a goroutine of the Store that may be telling what expired.
func (m *Machine) rest() {
	if m.Rest != nil {
		m.Rest()
		return
	}
	for watchdog := time.Now().Add(time.Minute); m.untold() && time.Now().Before(watchdog); {
		runtime.Gosched()
	}
}

// untold reports whether some version is held, though nothing has gone wrong.
func (m *Machine) untold() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, held := range m.held {
		if len(held) > 0 {
			return m.err == nil
		}
	}
	return false
}

// head is the beginning of bytes, for messages.
func head(b []byte) []byte { return b[:min(len(b), 32)] }
