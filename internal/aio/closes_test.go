package aio

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// Who calls Close while another one waits for the disk does not keep the time of a
// bubble from passing: both end when the patience is over.
func TestClosesInABubble(t *testing.T) {
	watchdog := time.AfterFunc(time.Minute, func() { panic("two Closes at once do not end") })
	defer watchdog.Stop()
	synctest.Test(t, func(t *testing.T) {
		f, stuck := stuckFile(t)
		r, err := Open(Config{File: f, Mode: Pread, Depth: 1, Patience: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		go r.Read(context.Background(), 0, 8)
		stuck.AwaitBlocked(1)
		began := time.Now()
		closes := make(chan error)
		for range 2 {
			go func() { closes <- r.Close() }()
		}
		for range 2 {
			if err := <-closes; !errors.Is(err, ErrStuck) {
				t.Errorf("%v: want ErrStuck", err)
			}
		}
		if took := time.Since(began); took != time.Second {
			t.Errorf("they took %v, want a second", took)
		}
		stuck.Remove()
	})
}
