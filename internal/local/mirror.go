package local

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/firncache/firn/internal/ram"
)

// mirror copies to the SSD tier what is in RAM alone, pass after pass, so that a kill loses no
// more than was written lately. It takes a twentieth of a core at most, and stands back for a log
// that has no room. It does not know the store, which may be collected.
type mirror struct {
	ram   *ram.Tier
	ssd   *ssdTier
	every time.Duration
	quit  chan struct{}
	ended chan struct{}

	stopped atomic.Bool

	resumed time.Time     // when the step under way began
	worked  time.Duration // since the last pause

	mu     sync.Mutex
	opened time.Time
	before time.Time      // when the last whole pass began; zero: there is none
	since  time.Time      // what was last written before is on the SSD
	left   ram.Unmirrored // by the last whole pass
	offs   uint64         // how often the SSD tier had lost all by then
}

const (
	mirrorBurst = time.Millisecond // work between two pauses
	mirrorPause = 19               // a pause in terms of the work before it
	mirrorWait  = 10 * time.Millisecond
)

// newMirror starts a mirror, if there is to be one; otherwise it is nil.
func newMirror(every time.Duration, upper *ram.Tier, lower *ssdTier) *mirror {
	if every == 0 || lower == nil {
		return nil
	}
	now := time.Now()
	m := &mirror{ram: upper, ssd: lower, every: every, opened: now, since: now, quit: make(chan struct{}), ended: make(chan struct{})}
	go m.run()
	return m
}

// stop ends the mirror. When it returns nothing more is copied.
func (m *mirror) stop() {
	if m != nil && !m.stopped.Swap(true) {
		close(m.quit)
		<-m.ended
	}
}

func (m *mirror) run() {
	defer close(m.ended)
	for pause := m.every; m.sleep(pause); {
		began := time.Now()
		m.pass(began)
		pause = max(0, m.every-time.Since(began))
	}
}

// pass is a pass over RAM, which counts once its copies are written.
func (m *mirror) pass(began time.Time) {
	lost, offs, on := m.ssd.tier.Losses()
	m.mu.Lock()
	m.noteOffs(offs)
	m.mu.Unlock()
	if !on {
		return
	}
	m.resumed, m.worked = time.Now(), 0
	left, all := m.ram.Mirror(lost, m.more)
	if !all || !m.write(offs) {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.offs != offs {
		return
	}
	if !m.before.IsZero() {
		m.since = m.before
	}
	m.before, m.left = began, left
}

// more is called before each step of a pass. It pauses when enough was done, and while the log
// has no room, and reports whether the pass goes on.
func (m *mirror) more() bool {
	m.worked += time.Since(m.resumed)
	if m.worked >= mirrorBurst {
		if !m.sleep(mirrorPause * m.worked) {
			return false
		}
		m.worked = 0
	}
	for !m.ssd.tier.HasRoom() {
		if _, _, on := m.ssd.tier.Losses(); !on || !m.sleep(mirrorWait) {
			return false
		}
	}
	m.resumed = time.Now()
	select {
	case <-m.quit:
		return false
	default:
		return true
	}
}

// write waits until the copies are written. It reports false if the tier has lost them meanwhile,
// or the mirror is to stop.
func (m *mirror) write(offs uint64) bool {
	for written := m.ssd.tier.BeginWriteAll(); !written(); {
		if !m.sleep(mirrorWait) {
			return false
		}
		if _, now, on := m.ssd.tier.Losses(); !on || now != offs {
			return false
		}
	}
	_, now, on := m.ssd.tier.Losses()
	return on && now == offs
}

// sleep reports false if the mirror is to stop.
func (m *mirror) sleep(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-m.quit:
		return false
	case <-timer.C:
		return true
	}
}

// progress is Store.Mirrored.
func (m *mirror) progress() (age time.Duration, left ram.Unmirrored) {
	if m == nil {
		return 0, left
	}
	_, offs, _ := m.ssd.tier.Losses()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.noteOffs(offs)
	return time.Since(m.since), m.left
}

// noteOffs notes how often the SSD tier has lost all: no copy from before counts. The caller
// holds mu.
func (m *mirror) noteOffs(offs uint64) {
	if offs != m.offs {
		m.offs, m.before, m.since = offs, time.Time{}, m.opened
	}
}
