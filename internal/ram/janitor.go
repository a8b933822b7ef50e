package ram

import (
	"sync"
	"time"
)

// janitor keeps the coarse time and takes expired records out, in a goroutine
// that begins with the first record that has a deadline.
type janitor struct {
	once sync.Once
	quit chan struct{}
	done chan struct{}
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
	defer close(t.janitor.done)
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

// stop ends the goroutines and waits for them.
func (t *Tier) stop() {
	close(t.janitor.quit)
	t.janitor.once.Do(func() { close(t.janitor.done) }) // it never began
	<-t.janitor.done
}
