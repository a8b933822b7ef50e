package ram

import (
	"sync"
	"time"
)

// janitor keeps the coarse time and takes expired records out, in a goroutine
// that begins with the first record that has a deadline.
type janitor struct {
	once     sync.Once
	quit     chan struct{}
	sweeping sync.Mutex // held while a goroutine of the tier's own touches its memory
}

// tick is how often the coarse time advances, well below slack.
const tick = 50 * time.Millisecond

// sweepEvery is how many ticks lie between two sweeps: a second.
const sweepEvery = 20

func (t *Tier) startJanitor() {
	t.janitor.once.Do(func() {
		if t.ticking {
			t.clock.coarse.Store(t.clock.now())
		}
		go t.runJanitor()
	})
}

func (t *Tier) runJanitor() {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for n := 1; ; n++ {
		select {
		case <-t.janitor.quit:
			return
		case <-ticker.C:
		}
		if t.ticking {
			t.clock.coarse.Store(t.clock.now())
		}
		if n%sweepEvery == 0 {
			t.Sweep()
		}
	}
}

// stop ends the tier's goroutines. When it returns, they have ended or are about
// to: one may still be reporting what expired, for Close may be called from there.
func (t *Tier) stop() {
	close(t.janitor.quit)
	t.janitor.sweeping.Lock() // once a sweep or prefault has ended, none begins: the tier is closed
	defer t.janitor.sweeping.Unlock()
}
