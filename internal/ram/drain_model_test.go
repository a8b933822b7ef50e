package ram

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/firncache/firn/internal/cachetest"
	"github.com/firncache/firn/internal/evicted"
)

// drainModel makes random calls of a tier, and between two steps of a drain or sweep others,
// and looks at all that the tier keeps twice in between.
type drainModel struct {
	*drained
	src   cachetest.Source
	keys  int
	depth int  // of calls between the steps of others' drains
	steps int  // between which something else happened
	large bool // a call is under way that may hold segments, and the turn to gather them
	lower bool // so is one that holds what a sweep waits for
}

func newDrainModel(t *testing.T, src cachetest.Source) *drainModel {
	m := &drainModel{drained: newDrained(t, 64<<10, 0), src: src}
	m.keys = m.n
	m.between = m.pause
	return m
}

func (m *drainModel) pause() {
	if m.depth == 2 || m.src.Below(3) > 0 {
		return
	}
	m.depth++
	for range 1 + m.src.Below(3) {
		m.call()
	}
	m.depth--
	m.steps++
}

// call makes a random call. What a write changes, it does after all that happens
// between the steps that it takes to make room.
func (m *drainModel) call() {
	key := fmt.Sprintf("%06d", 1+m.src.Below(m.keys))
	if ahead := m.ahead(); len(ahead) > 0 && m.src.Below(2) == 0 {
		key = ahead[m.src.Below(len(ahead))]
	}
	kind := m.src.Below(24)
	if m.large && kind == 7 || m.lower && (kind == 8 || kind == 14) {
		kind = 0
	}
	switch kind {
	case 0, 1, 2:
		m.delete(key)
	case 3, 4, 5, 6:
		m.set(key, fmt.Sprintf("value%d", m.src.Below(10)), 0)
	case 7:
		m.large = true
		m.set(key, string(make([]byte, m.src.Below(3000))), 0)
		m.large = false
	case 8:
		m.now += int64(m.src.Below(2000))
		m.lower = true
		m.Sweep()
		m.lower = false
	case 9:
		m.set(key, "gone soon", m.now+1+int64(m.src.Below(3000)))
		m.low.Invalidate(m.Hash([]byte(key))) // nothing of it is there when it has expired
		m.set(key, "here to stay", 0)
	case 10, 11, 12:
		m.Get(nil, []byte(key))
	case 13:
		if r, ok := m.low.get(m.Hash([]byte(key)), []byte(key)); ok {
			m.Promote(m.Hash(r.key), r.key, r.value, r.deadline, r.token)
		}
	case 14:
		if m.src.Below(4) == 0 {
			m.lower = true
			if err := m.SetBytes(64<<10 + int64(m.src.Below(3*64<<10))); err != nil {
				m.t.Error(err)
			}
			m.lower = false
		}
	case 15:
		if m.src.Below(8) == 0 {
			m.clear()
		}
	case 16:
		m.DemoteAll(0, func() bool { return m.src.Below(20) > 0 }, new(evicted.List))
	default:
		m.n = m.keys
		m.set(key, "value", 0)
	}
	m.agrees()
}

func (m *drainModel) clear() {
	for key := range m.values {
		m.low.Invalidate(m.Hash([]byte(key)))
		delete(m.values, key)
	}
	m.between = nil // what is set during Clear may stay
	m.Clear()
	m.between = m.pause
}

// agrees looks at the shard, and unless a call holds segments at the pool, too.
func (m *drainModel) agrees() {
	m.t.Helper()
	s := &m.shards[0]
	s.mu.Lock()
	held, err := s.check()
	s.mu.Unlock()
	if err == nil && !m.large && m.depth == 0 {
		err = m.pool.Check(held)
	}
	if err != nil {
		m.t.Fatal(err)
	}
}

// Whatever is called between the steps of a drain, all agrees after each step and
// call, and nothing is lost and nothing comes back.
func TestDrainModel(t *testing.T) {
	oneGoroutine(t)
	t.Parallel()
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			m := newDrainModel(t, cachetest.Random{Rand: rand.New(rand.NewPCG(seed, 5))})
			for range sized(300, 5000) {
				m.call()
			}
			m.between = nil
			m.drained.n = m.keys
			m.check()
			if m.steps == 0 {
				t.Error("nothing happened between two steps")
			}
		})
	}
}
