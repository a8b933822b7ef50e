package store

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/firncache/firn/internal/fleet"
	"github.com/firncache/firn/internal/invariants"
	"github.com/firncache/firn/internal/local"
	"github.com/firncache/firn/internal/shared/sharedtest"
)

// sharedModel plays processes on one server: each step is a call, during which others may be
// made, and what the network does. It knows what the server has had of every key, in order,
// and what a process must not fall behind.
type sharedModel struct {
	t       *testing.T
	rng     *rand.Rand
	server  *sharedtest.Server
	procs   []*modelProcess
	history map[string][]state // by key, of the server
	written int                // values are numbered
	depth   int                // of calls made during others
}

// state is what a key was: a value, or "" for none.
type state = string

// modelProcess is a process, and how much of each key's history it has to know.
type modelProcess struct {
	process
	held, lapsed bool
	seen         map[string]int // what it has read or written is not undone
	synced       map[string]int // what was pushed to it, or lost with its connection
}

var modelKeys = []string{"a", "b", "c"}

func newSharedModel(t *testing.T, seed uint64, onSSD bool) *sharedModel {
	m := &sharedModel{t: t, rng: rand.New(rand.NewPCG(15, seed)), server: sharedtest.NewServer(), history: map[string][]state{}}
	m.server.Leases = seed%2 == 0
	m.server.OnChange = func(key, value string, ok bool) {
		if !ok {
			value = ""
		}
		m.history[key] = append(m.history[key], value)
	}
	for _, key := range modelKeys {
		m.history[key] = []state{""}
	}
	for range 2 {
		p := &modelProcess{process: *begin(t, m.server, onSSD), seen: map[string]int{}, synced: map[string]int{}}
		p.tier.OnRequest = func(string, string) { m.during() }
		p.tier.OnReply = func(string, string) { m.during() }
		m.procs = append(m.procs, p)
	}
	return m
}

// during makes another step, now and then, in the middle of one.
func (m *sharedModel) during() {
	if m.depth < 4 && m.rng.IntN(3) == 0 {
		m.step()
	}
}

func (m *sharedModel) step() {
	m.depth++
	defer func() { m.depth-- }()
	p := m.procs[m.rng.IntN(len(m.procs))]
	key := modelKeys[m.rng.IntN(len(modelKeys))]
	switch m.rng.IntN(16) {
	case 0, 1, 2, 3:
		m.get(p, key)
	case 4:
		m.getMulti(p)
	case 5, 6:
		m.write(p, key, func(value string) error { return p.setKey([]byte(key), []byte(value), 0) })
	case 7:
		m.write(p, key, func(value string) error {
			return p.SetMulti([][]byte{[]byte(key)}, [][]byte{[]byte(value)}, 0, nil)
		})
	case 8:
		m.done(p.Delete([]byte(key)))
	case 9:
		_, err := p.Touch(p.t.Context(), []byte(key), 0)
		m.done(err)
	case 10, 11:
		m.swap(p, key)
	case 12:
		p.demote(key)
	case 13:
		m.server.Remove(key)
	default:
		m.network(p)
	}
}

// network has something happen to the connection of a process.
func (m *sharedModel) network(p *modelProcess) {
	switch m.rng.IntN(4) {
	case 0:
		p.held = true
		p.tier.HoldPushes()
	case 1:
		p.hear()
	case 2:
		m.sync(p) // whatever was under way is lost, and so is trust
		p.lapsed = false
		p.tier.Disconnect()
	case 3:
		p.lapsed = true
		p.tier.Lapse()
	}
}

// hear has pushes come, and trust afterwards.
func (p *modelProcess) hear() {
	p.held, p.lapsed = false, false
	p.tier.DeliverPushes()
	p.tier.Resume()
}

// sync notes that a process knows, or does not trust, all that has been until now.
func (m *sharedModel) sync(p *modelProcess) {
	for key, states := range m.history {
		p.synced[key] = len(states) - 1
	}
}

// floor is what a read of a key that begins now has to know at least.
func (m *sharedModel) floor(p *modelProcess, key string) int {
	if !p.held && m.depth == 1 || p.lapsed {
		m.sync(p)
	}
	return max(p.seen[key], p.synced[key])
}

// found checks what a read has found that had to know of so much.
func (m *sharedModel) found(p *modelProcess, key, value string, floor int) {
	m.t.Helper()
	states := m.history[key]
	at := slices.Index(states[floor:], value)
	if at < 0 {
		m.t.Fatalf("read %q of %s: want one of %q; before there were %q", value, key, states[floor:], states[:floor])
	}
	p.seen[key] = max(p.seen[key], floor+at)
}

func (m *sharedModel) get(p *modelProcess, key string) {
	floor := m.floor(p, key)
	v, err := p.Lookup(p.t.Context(), nil, []byte(key))
	if err != nil && err != local.ErrNotFound {
		m.t.Fatal(err)
	}
	m.found(p, key, string(v), floor)
}

func (m *sharedModel) getMulti(p *modelProcess) {
	var b fleet.Batch
	var floors []int
	var keys [][]byte
	for _, key := range modelKeys {
		floors, keys = append(floors, m.floor(p, key)), append(keys, []byte(key))
	}
	m.done(p.LookupMulti(p.t.Context(), &b, keys))
	for i, key := range modelKeys {
		v, _ := b.Value(i)
		m.found(p, key, string(v), floors[i])
	}
}

// write writes a value that there was not before.
func (m *sharedModel) write(p *modelProcess, key string, do func(value string) error) {
	m.written++
	value := fmt.Sprint(m.written)
	m.done(do(value))
	p.seen[key] = max(p.seen[key], slices.Index(m.history[key], value))
}

// swap changes a key by what it holds, which nobody else has changed in between.
func (m *sharedModel) swap(p *modelProcess, key string) {
	var a fleet.Attempt
	p.Begin(&a, []byte(key))
	defer p.End(&a)
	old, _, _, err := p.Look(p.t.Context(), &a, nil)
	m.done(err)
	m.written++
	value := fmt.Sprint(m.written)
	switch err := p.Replace(&a, []byte(value), 0); err {
	case local.ErrChanged:
	case nil:
		states := m.history[key]
		at := slices.Index(states, value)
		if states[at-1] != string(old) {
			m.t.Fatalf("%s was %q when %q was swapped for %q", key, states[at-1], old, value)
		}
		p.seen[key] = max(p.seen[key], at)
	default:
		m.t.Fatal(err)
	}
}

func (m *sharedModel) done(err error) {
	if err != nil {
		m.t.Fatal(err)
	}
}

// Whatever is done at once, and whatever the network does: nobody reads what is older than
// what was pushed to him, or than what he has read or written himself; nothing is swapped that
// has changed; and in the end all have what the server has.
func TestSharedModel(t *testing.T) {
	t.Parallel()
	overTiers(t, func(t *testing.T, onSSD bool) {
		seeds := uint64(20)
		if invariants.Race {
			seeds = 3
		}
		for seed := range seeds {
			m := newSharedModel(t, seed, onSSD)
			for range 400 {
				m.step()
			}
			m.depth = 1
			for _, p := range m.procs {
				p.tier.OnRequest, p.tier.OnReply = nil, nil
				p.hear()
				for _, key := range modelKeys {
					states := m.history[key]
					if v, _ := p.Get(nil, []byte(key)); string(v) != states[len(states)-1] {
						t.Fatalf("seed %d: %s is %q in the end: the server has %q", seed, key, v, states[len(states)-1])
					}
				}
				m.done(p.Close())
			}
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
	})
}
