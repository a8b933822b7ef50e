package cachetest

import (
	"bytes"
	"time"
)

// Computer is a Store that changes an entry by what it is, as one step.
type Computer interface {
	Compute(key []byte, f func(old []byte, ok bool) (new []byte, do Change, ttl time.Duration)) error
	SetIfAbsent(key, value []byte) (stored bool, err error)
	CompareAndSwap(key, old, new []byte) (swapped bool, err error)
	GetAndDelete(dst, key []byte) (value []byte, ok bool, err error)
}

// Change is what the function of a Compute wants done.
type Change uint8

// The changes.
const (
	Keep   Change = iota
	Set           // with the store's default time to live, which is none
	SetTTL        // with the one that the function returns
	Update        // with the deadline of the entry
	Remove
	changes
)

// compute makes each of the changes, if the Store can.
func (m *Machine) compute() {
	c, ok := m.Store.(Computer)
	if !ok {
		return
	}
	key, do := m.key(), Change(m.src.Below(int(changes)))
	n, ttl := m.size(key), time.Duration(1+m.src.Below(5000))*time.Millisecond
	m.writing(key)
	calls := 0
	err := c.Compute(bytes.Clone(key), func(old []byte, ok bool) ([]byte, Change, time.Duration) {
		calls++
		was := m.saw(key, old, ok)
		v := m.version(key, n, map[Change]time.Duration{SetTTL: ttl}[do])
		if do == Update {
			v.deadline = was.deadline
		}
		if do != Keep && do != Remove {
			m.expect(key, v)
		}
		scribble(old) // it is the function's
		return append(old[:0], v.value...), do, ttl
	})
	m.wrote(key, err, calls == 1, do == Remove)
}

// saw compares what a call has found, and returns what there is.
func (m *Machine) saw(key, value []byte, ok bool) version {
	m.mu.Lock()
	defer m.mu.Unlock()
	want, there := m.current(key)
	if ok != there || ok && !bytes.Equal(value, want.value) {
		m.fail("key %x: %v and %d bytes, want %v and %d bytes", head(key), ok, len(value), there, len(want.value))
	}
	if !there {
		return version{}
	}
	return want
}

// writing notes that a key is about to be written, expect what it will be.
func (m *Machine) writing(key []byte) {
	m.mu.Lock()
	m.opKeys = [][]byte{key}
	m.mu.Unlock()
}

func (m *Machine) expect(key []byte, v version) {
	m.mu.Lock()
	m.held[string(key)] = append(m.held[string(key)], v)
	m.mu.Unlock()
}

// wrote is called after a write, where as says whether it answered as it should, and gone
// whether it has removed the key.
func (m *Machine) wrote(key []byte, err error, as, gone bool) {
	m.settle([][]byte{key})
	m.mu.Lock()
	if _, there := m.current(key); err != nil || !as || gone && there {
		m.fail("key %x: %v, answered as it should: %v, still there: %v", head(key), err, as, there)
	}
	m.mu.Unlock()
	m.get(key)
}

// setIfAbsent and compareAndSwap write, or do not.
func (m *Machine) setIfAbsent() {
	c, ok := m.Store.(Computer)
	if !ok {
		return
	}
	key := m.key()
	v := m.version(key, m.size(key), 0)
	m.writing(key)
	_, there := m.now(key)
	if !there {
		m.expect(key, v)
	}
	stored, err := c.SetIfAbsent(key, v.value)
	m.wrote(key, err, stored == !there, false)
}

func (m *Machine) compareAndSwap() {
	c, ok := m.Store.(Computer)
	if !ok {
		return
	}
	key := m.key()
	v := m.version(key, m.size(key), 0)
	m.writing(key)
	was, there := m.now(key)
	old, same := bytes.Clone(was.value), there
	if there && m.src.Below(3) == 0 {
		old, same = append(old, 'x'), false
	}
	if same {
		v.deadline = was.deadline
		m.expect(key, v)
	}
	swapped, err := c.CompareAndSwap(key, old, v.value)
	m.wrote(key, err, swapped == same, false)
}

// now is current for one who does not hold mu.
func (m *Machine) now(key []byte) (v version, there bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.current(key)
}

func (m *Machine) getAndDelete() {
	c, ok := m.Store.(Computer)
	if !ok {
		return
	}
	key := m.key()
	m.writing(key)
	was, there := m.now(key)
	want := string(before(key))
	if there {
		want += string(was.value)
	}
	v, ok, err := c.GetAndDelete(before(key), key)
	m.wrote(key, err, ok == there && string(v) == want, true)
}
