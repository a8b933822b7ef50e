package load

import "testing"

// A loader that waits for many loads looks through them now and then, not for each; and keeps few
// that have ended.
func TestNoteWait(t *testing.T) {
	t.Parallel()
	over := make(chan struct{})
	close(over)
	var d directives
	looks := 0
	note := func(done chan struct{}) {
		before := d.waited
		if d.noteWait(&flight{done: done}); d.waited != before {
			looks++
		}
	}
	for range 100 {
		if note(over); len(d.waits) > 2*fewWaits {
			t.Fatalf("%d notes, of which one is of use", len(d.waits))
		}
	}
	looks = 0
	for range 10_000 {
		note(make(chan struct{}))
	}
	if n := len(d.waits); looks > 12 || n < 10_000 || n > 10_000+2*fewWaits {
		t.Errorf("it looked %d times, and has %d notes", looks, n)
	}
}
