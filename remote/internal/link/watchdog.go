package link

import (
	"sync"
	"time"
)

// watchdog notices that a connection shows no sign of life while an answer is waited for: its
// server is away after Options.Timeout, and the connection lost after the silence of the rhythm.
// One that moves bytes is slow.
type watchdog struct {
	pulse          func() int64
	quiet, silence time.Duration
	onAway, onLost func()

	mu    sync.Mutex
	timer *time.Timer
	armed bool
	away  bool  // nothing has come for quiet
	seen  int64 // the pulse when it was looked at last
}

func newWatchdog(pulse func() int64, quiet, silence time.Duration, onAway, onLost func()) *watchdog {
	d := &watchdog{pulse: pulse, quiet: min(quiet, silence), silence: silence, onAway: onAway, onLost: onLost}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.timer = time.AfterFunc(silence, d.look)
	d.timer.Stop()
	return d
}

func (d *watchdog) arm() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.armed = true
	d.begin(d.pulse())
}

// begin is called with mu held.
func (d *watchdog) begin(pulse int64) {
	d.seen, d.away = pulse, false
	d.timer.Reset(d.quiet)
}

func (d *watchdog) disarm() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.armed = false
	d.timer.Stop()
}

func (d *watchdog) look() {
	away, lost := d.silent()
	if away {
		d.onAway()
	}
	if lost {
		d.onLost()
	}
}

func (d *watchdog) silent() (away, lost bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.armed {
		return false, false
	}
	if now := d.pulse(); now != d.seen {
		d.begin(now)
		return false, false
	}
	if d.away || d.quiet == d.silence {
		return true, true
	}
	d.away = true
	d.timer.Reset(d.silence - d.quiet)
	return true, false
}
