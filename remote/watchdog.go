package remote

import (
	"sync"
	"time"
)

// watchdog loses a connection that shows no sign of life for too long while an answer is waited
// for. One that moves bytes is slow, not lost.
type watchdog struct {
	c       *conn
	silence time.Duration

	mu    sync.Mutex
	timer *time.Timer
	armed bool
	seen  int64 // the pulse when it was looked at last
}

func newWatchdog(c *conn, silence time.Duration) *watchdog {
	d := &watchdog{c: c, silence: silence}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.timer = time.AfterFunc(silence, d.look)
	d.timer.Stop()
	return d
}

func (d *watchdog) arm() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.armed, d.seen = true, d.c.pulse.Load()
	d.timer.Reset(d.silence)
}

func (d *watchdog) disarm() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.armed = false
	d.timer.Stop()
}

func (d *watchdog) look() {
	if d.silent() {
		d.c.w.t.o.Log.Warn("firn/remote: no sign of life", "server", d.c.w.addr, "for", d.silence)
		d.c.kill()
	}
}

func (d *watchdog) silent() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.armed {
		return false
	}
	if now := d.c.pulse.Load(); now != d.seen {
		d.seen = now
		d.timer.Reset(d.silence)
		return false
	}
	return true
}
