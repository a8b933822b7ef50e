package ram

import (
	"time"
)

// sweepEvery is the time between two sweeps.
const sweepEvery = time.Second

// expectExpiry is called before a record is stored that has a deadline.
func (t *Tier) expectExpiry() { t.janitor.once.Do(t.startJanitor) }

func (t *Tier) startJanitor() {
	t.janitor.begun = true
	t.clock.join()
	t.passed.join()
	go t.runJanitor()
}

func (t *Tier) runJanitor() {
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		select {
		case <-t.janitor.quit:
			return
		case <-ticker.C:
			t.Sweep()
		}
	}
}

// stop ends the tier's goroutines. When it returns, they have ended or are about
// to: one may still be reporting expired records, for Close may be called from there.
func (t *Tier) stop() {
	close(t.janitor.quit)
	t.janitor.once.Do(func() {}) // it does not begin any more
	if t.janitor.begun {
		t.clock.leave()
		t.passed.leave()
	}
	t.janitor.sweeping.Lock() // once a sweep or prefault has ended, none begins: the tier is closed
	defer t.janitor.sweeping.Unlock()
}
