package cachetest

import (
	"bytes"
	"time"
)

// ops are the calls that a Machine makes; those that stand twice are made
// twice as often.
var ops = []struct {
	name string
	run  func(*Machine)
}{
	{"Get", func(m *Machine) { m.get(m.key()) }},
	{"Get", func(m *Machine) { m.get(m.key()) }},
	{"Set", (*Machine).set},
	{"Set", (*Machine).set},
	{"Set", (*Machine).set},
	{"SetAgain", (*Machine).setAgain},
	{"SetAgain", (*Machine).setAgain},
	{"SetMany", (*Machine).setMany},
	{"SetMany", (*Machine).setMany},
	{"Delete", (*Machine).delete},
	{"DeleteMany", (*Machine).deleteMany},
	{"Has", (*Machine).has},
	{"TTL", (*Machine).timeToLive},
	{"Touch", (*Machine).touch},
	{"TouchMany", (*Machine).touchMany},
	{"GetMulti", (*Machine).getMulti},
	{"SetMulti", (*Machine).setMulti},
	{"All", (*Machine).all},
	{"Len", (*Machine).length},
	{"Clear", (*Machine).clear},
	{"SetBytes", (*Machine).setBytes},
	{"Sweep", (*Machine).sweep},
	{"Sweep", (*Machine).sweep},
	{"too large", (*Machine).setTooLarge},
	{"Compute", (*Machine).compute},
	{"Compute", (*Machine).compute},
	{"SetIfAbsent", (*Machine).setIfAbsent},
	{"CompareAndSwap", (*Machine).compareAndSwap},
	{"GetAndDelete", (*Machine).getAndDelete},
}

func (m *Machine) key() []byte { return m.Keys[m.src.Below(len(m.Keys))] }

// size is a length of a value that fits with the key: often small, sometimes
// empty, now and then as large as may be.
func (m *Machine) size(key []byte) int {
	most := int(m.Bytes/4) - len(key)
	switch m.src.Below(8) {
	case 0:
		return 0
	case 1:
		return most - m.src.Below(2)
	case 2:
		return m.src.Below(most + 1)
	case 3:
		return m.src.Below(most/8 + 1)
	case 4:
		return m.src.Below(min(most, 4096) + 1)
	default:
		return m.src.Below(min(most, 200) + 1)
	}
}

// timeTo chooses a time to live, mostly none.
func (m *Machine) timeTo() time.Duration {
	switch m.src.Below(6) {
	case 0:
		return time.Duration(1+m.src.Below(50)) * time.Millisecond
	case 1:
		return time.Duration(1+m.src.Below(5000)) * time.Millisecond
	default:
		return 0
	}
}

func (m *Machine) set() {
	key := m.key()
	m.put(key, m.size(key), m.timeTo())
}

// setAgain overwrites with a value of the same length.
func (m *Machine) setAgain() {
	key := m.key()
	m.mu.Lock()
	v, ok := m.current(key)
	m.mu.Unlock()
	n := len(v.value)
	if !ok || int64(n+len(key)) > m.Bytes/4 {
		n = m.size(key)
	}
	m.put(key, n, m.timeTo())
}

// setMany writes one size under all keys.
func (m *Machine) setMany() {
	n, ttl := m.src.Below(300), m.timeTo()
	for _, key := range m.Keys {
		if int64(len(key)+n) <= m.Bytes/4 {
			m.put(key, n, ttl)
		}
	}
}

// version makes the next value of a key.
func (m *Machine) version(key []byte, n int, ttl time.Duration) version {
	m.seq++
	v := version{seq: m.seq, value: AppendValue(nil, key, m.seq, n)}
	if ttl != 0 {
		v.deadline = m.Clock.Now().Add(ttl)
	}
	return v
}

func (m *Machine) put(key []byte, n int, ttl time.Duration) {
	v := m.version(key, n, ttl)
	m.mu.Lock()
	m.opKeys = [][]byte{key}
	m.held[string(key)] = append(m.held[string(key)], v)
	m.mu.Unlock()
	lentKey, lentValue := bytes.Clone(key), bytes.Clone(v.value)
	err := m.Store.Set(lentKey, lentValue, ttl)
	scribble(lentKey, lentValue)
	m.settle([][]byte{key})
	m.mu.Lock()
	if err != nil {
		m.fail("key of %d bytes, value of %d: %v", len(key), n, err)
	}
	m.mu.Unlock()
	m.get(key)
}

// scribble changes bytes that were lent to the store, which must have copied them.
func scribble(lent ...[]byte) {
	for _, b := range lent {
		for i := range b {
			b[i] ^= 0x5a
		}
	}
}

// setTooLarge stores a value one byte too long; the old one goes.
func (m *Machine) setTooLarge() {
	key := m.key()
	m.mu.Lock()
	m.opKeys = [][]byte{key}
	m.mu.Unlock()
	err := m.Store.Set(key, make([]byte, m.Bytes/4-int64(len(key))+1), 0)
	m.mu.Lock()
	if err == nil || !m.Store.TooLarge(err) {
		m.fail("a byte more than a quarter of %d: %v", m.Bytes, err)
	}
	if _, there := m.current(key); there {
		m.fail("key %x could not be set, and its older value left without an event", head(key))
	}
	m.mu.Unlock()
	m.get(key)
}

// get reads a key, and looks at its deadline then, if a read moves that.
func (m *Machine) get(key []byte) {
	m.read(key)
	if m.Slid != nil {
		m.timeToLiveOf(key)
	}
}

// before is what stands in dst before the value of key is appended: nothing where it would be
// taken for the key.
func before(key []byte) []byte {
	if len(key) == 0 {
		return nil
	}
	return []byte("before")
}

func (m *Machine) read(key []byte) {
	prefix := before(key)
	value, ok := m.Store.Get(prefix, key)
	m.mu.Lock()
	defer m.mu.Unlock()
	want, there := m.current(key)
	switch {
	case !bytes.HasPrefix(value, prefix):
		m.fail("Get of key %x changed what was in dst: %x", head(key), head(value))
	case !ok && len(value) != len(prefix):
		m.fail("Get of key %x missed and appended %d bytes", head(key), len(value)-len(prefix))
	case ok != there:
		m.fail("Get of key %x: %v, want %v (%d bytes, write %d)", head(key), ok, there, len(want.value), want.seq)
	case ok && !bytes.Equal(value[len(prefix):], want.value):
		m.fail("Get of key %x: %d bytes %x, want %d bytes of write %d", head(key), len(value)-len(prefix), head(value[len(prefix):]), len(want.value), want.seq)
	case ok:
		m.slide(key)
	}
	scribble(value) // it is ours
}

func (m *Machine) delete() { m.remove(m.key()) }

// deleteMany deletes all keys but every so-many-th.
func (m *Machine) deleteMany() {
	keep := 2 + m.src.Below(8)
	for i, key := range m.Keys {
		if i%keep != 0 {
			m.remove(key)
		}
	}
}

func (m *Machine) remove(key []byte) {
	m.mu.Lock()
	m.opKeys = [][]byte{key}
	m.mu.Unlock()
	err := m.Store.Delete(key)
	m.mu.Lock()
	if _, there := m.current(key); there {
		m.fail("key %x was deleted without an event", head(key))
	}
	if err != nil {
		m.fail("key %x: %v", head(key), err)
	}
	m.mu.Unlock()
	m.get(key)
}

func (m *Machine) has() {
	key := m.key()
	ok := m.Store.Has(key)
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, there := m.current(key); ok != there {
		m.fail("key %x: %v, want %v", head(key), ok, there)
	}
}

func (m *Machine) timeToLive() { m.timeToLiveOf(m.key()) }

func (m *Machine) timeToLiveOf(key []byte) {
	ttl, ok := m.Store.TTL(key)
	m.mu.Lock()
	defer m.mu.Unlock()
	v, there := m.current(key)
	want := time.Duration(0)
	switch {
	case there && v.deadline.IsZero():
		want = Forever
	case there:
		want = v.deadline.Sub(m.Clock.Now())
	}
	if ok != there || ttl != want {
		m.fail("key %x: %v, %v, want %v, %v", head(key), ttl, ok, want, there)
	}
}

// touch moves the deadline of a value, or gives it one, or takes it away.
func (m *Machine) touch() { m.touchKey(m.key(), m.timeTo()) }

// touchMany touches a run of keys.
func (m *Machine) touchMany() {
	ttl, n := m.timeTo(), m.src.Below(len(m.Keys))
	for _, key := range m.Keys[n:] {
		m.touchKey(key, ttl)
	}
}

func (m *Machine) touchKey(key []byte, ttl time.Duration) {
	if ttl == 0 {
		ttl = Forever
	}
	lent := bytes.Clone(key)
	ok, err := m.Store.Touch(lent, ttl)
	scribble(lent)
	if err == ErrSkipped {
		return
	}
	m.mu.Lock()
	v, there := m.current(key)
	if ok != there || err != nil {
		m.fail("key %x: %v, %v, want %v", head(key), ok, err, there)
	}
	if there {
		held := m.held[string(key)]
		if v.deadline = (time.Time{}); ttl != Forever {
			v.deadline = m.Clock.Now().Add(ttl)
		}
		held[len(held)-1] = v
	}
	m.mu.Unlock()
	m.timeToLiveOf(key)
	m.get(key)
}

func (m *Machine) batch() (keys [][]byte) {
	for range m.src.Below(80) {
		keys = append(keys, m.key())
	}
	return keys
}

func (m *Machine) getMulti() {
	keys := m.batch()
	values, ok := m.Store.GetMulti(keys)
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, key := range keys {
		want, there := m.current(key)
		if ok[i] != there || there && !bytes.Equal(values[i], want.value) {
			m.fail("key %x, %d of %d: %v and %d bytes, want %v and %d bytes", head(key), i, len(keys), ok[i], len(values[i]), there, len(want.value))
		} else if there {
			m.slide(key)
		}
	}
}

func (m *Machine) setMulti() {
	keys := m.batch()
	var values [][]byte
	m.mu.Lock()
	m.opKeys = keys
	for _, key := range keys {
		v := m.version(key, min(m.size(key), 2000), 0)
		values = append(values, v.value)
		m.held[string(key)] = append(m.held[string(key)], v)
	}
	m.mu.Unlock()
	err := m.Store.SetMulti(keys, values)
	m.settle(keys)
	m.mu.Lock()
	if err != nil {
		m.fail("%d keys: %v", len(keys), err)
	}
	m.mu.Unlock()
	for _, key := range keys {
		m.get(key)
	}
}

// all compares the entries of an iteration with the model.
func (m *Machine) all() {
	seen := map[string]bool{}
	m.Store.All(func(key, value []byte) bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		v, ok := m.current(key)
		if !ok || !bytes.Equal(value, v.value) || seen[string(key)] {
			m.fail("All yields key %x with %d bytes: it is there: %v, with %d bytes; yielded before: %v", head(key), len(value), ok, len(v.value), seen[string(key)])
		}
		seen[string(key)] = true
		return true
	})
	m.mu.Lock()
	defer m.mu.Unlock()
	for key := range m.held {
		if _, ok := m.current([]byte(key)); ok && !seen[key] {
			m.fail("All leaves key %x out", head([]byte(key)))
		}
	}
}

func (m *Machine) length() {
	n := m.Store.Len()
	m.mu.Lock()
	defer m.mu.Unlock()
	live, most := 0, 0
	for key, held := range m.held {
		if _, ok := m.current([]byte(key)); ok {
			live++
		}
		if len(held) > 0 {
			most++
		}
	}
	if n < live || n > most {
		m.fail("%d, want %d to %d", n, live, most)
	}
}

func (m *Machine) clear() {
	m.mu.Lock()
	m.opKeys = m.Keys
	m.mu.Unlock()
	err := m.Store.Clear()
	m.mu.Lock()
	defer m.mu.Unlock()
	if err != nil {
		m.fail("%v", err)
	}
	for key := range m.held {
		if _, ok := m.current([]byte(key)); ok {
			m.fail("key %x is still there", head([]byte(key)))
		}
	}
}

// setBytes requests a quarter of the first budget to four times as much; that may be
// refused, and then everything stays as it was.
func (m *Machine) setBytes() {
	n := m.start/4 + int64(m.src.Below(int(m.start)))*15/4
	if m.Store.SetBytes(n) == nil {
		m.Bytes = n
	}
	m.length()
}

// sweep lets time pass and takes out expired entries.
func (m *Machine) sweep() {
	switch m.src.Below(3) {
	case 0:
		m.Clock.Advance(time.Millisecond)
	case 1:
		m.Clock.Advance(time.Duration(m.src.Below(100)) * time.Millisecond)
	default:
		m.Clock.Advance(time.Duration(m.src.Below(10_000)) * time.Millisecond)
	}
	m.Store.Sweep()
	for range 3 {
		m.get(m.key())
	}
}
