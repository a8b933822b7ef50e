package health

import "time"

// Retry calls try after pauses, the first of which is pause, and each twice as long as that
// before it, up to a minute. It returns once try has succeeded, after calling on, or when stop
// is closed.
func (h *Health) Retry(stop <-chan struct{}, pause time.Duration, try func() error, on func()) {
	for {
		h.noteRetryIn(pause)
		select {
		case <-stop:
			return
		case <-time.After(pause):
		}
		pause = min(2*pause, maxRetryPause)
		h.noteRetry()
		if err := try(); err != nil {
			h.noteRetryFailed(err)
			h.Fault("still off", "error", err)
			continue
		}
		if h.switchOn(on) {
			h.Info("firn: SSD tier is on again, empty")
		}
		return
	}
}

func (h *Health) noteRetryIn(pause time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.incidents.retryAt, h.incidents.pause, h.incidents.trying = time.Now().Add(pause), pause, false
}

func (h *Health) noteRetry() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.incidents.trying = true
}

func (h *Health) noteRetryFailed(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.incidents.retryErr = err
}

// NoteOrigin notes where the records came from at Open, or why there are none.
func (h *Health) NoteOrigin(text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.incidents.origin = text
}
