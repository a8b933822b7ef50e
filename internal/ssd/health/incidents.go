package health

import (
	"fmt"
	"strings"
	"time"
)

// incidents are what an engineer wants to know of a tier's health, guarded by Health.mu.
type incidents struct {
	origin    string    // of the records at Open, or why there are none; "": of new files
	since     time.Time // when the tier last went off, or came back; zero: it was never off
	was       string    // why it was off before that, and for how long; "": it was not
	retryAt   time.Time
	pause     time.Duration // before that try
	retryErr  error         // of the last try; nil: there was none
	trying    bool          // a try is under way
	faultText string        // the last fault that did not switch it off
	faultAt   time.Time
}

// faultLasts is how long a fault is worth a word.
const faultLasts = 10 * time.Minute

// noteFault notes a fault: what happened, and pairs of names and values.
func (s *incidents) noteFault(what string, args []any) {
	s.faultText, s.faultAt = what, time.Now()
	for i := 0; i+1 < len(args); i += 2 {
		if args[i] == "error" {
			s.faultText = fmt.Sprintf("%s: %v", what, args[i+1])
		}
	}
}

func (s *incidents) noteOffline() { s.since, s.retryErr = time.Now(), nil }

func (s *incidents) noteOnline(cause error) {
	now := time.Now()
	s.was = fmt.Sprintf("it was off for %v, and began empty: %v", now.Sub(s.since).Round(time.Second), cause)
	s.since, s.trying, s.faultText = now, false, ""
}

// offline says why the tier is off, and what happens now.
func (s *incidents) offline(cause error) string {
	text := cause.Error() + ". RAM goes on alone. "
	if s.trying {
		return text + "The disk is being tried again."
	}
	text += fmt.Sprintf("The disk is tried again after pauses of up to %v, next in %v", maxRetryPause, max(time.Until(s.retryAt), 0).Round(time.Second))
	if s.retryErr != nil {
		text += fmt.Sprintf("; the last try, %v ago, failed: %v", (s.pause - time.Until(s.retryAt)).Round(time.Second), s.retryErr)
	}
	return text + "."
}

// online is what was, of a tier that is in use; "" if nothing was.
func (s *incidents) online() string {
	var parts []string
	if s.faultText != "" && time.Since(s.faultAt) < faultLasts {
		parts = append(parts, fmt.Sprintf("%v ago: %s", time.Since(s.faultAt).Round(time.Second), s.faultText))
	}
	switch {
	case s.was != "":
		parts = append(parts, s.was)
	case s.origin != "":
		parts = append(parts, s.origin)
	}
	return strings.Join(parts, "; ")
}

const maxRetryPause = time.Minute
