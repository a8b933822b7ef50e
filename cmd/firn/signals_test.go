package main

import (
	"context"
	"os"
	"syscall"
	"testing"
)

// The first signal asks the work to end, and its status counts.
func TestFirstSignal(t *testing.T) {
	t.Parallel()
	for _, signal := range endings {
		signals := make(chan os.Signal, 1)
		status := attend(signals, func(ctx context.Context) int {
			signals <- signal
			<-ctx.Done()
			return 77
		}, func() { t.Errorf("%v: cleaned up without need", signal) })
		if status != 77 {
			t.Errorf("%v: status %d", signal, status)
		}
	}
}

func TestNoSignal(t *testing.T) {
	t.Parallel()
	if status := attend(nil, func(context.Context) int { return 3 }, nil); status != 3 {
		t.Errorf("status %d", status)
	}
}

// The second signal ends work that does not end: what is temporary goes, although
// it is in use.
func TestSecondSignal(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	temps := temporaries{parent: parent}
	signals, stuck := make(chan os.Signal, 2), make(chan struct{})
	defer close(stuck)
	status := attend(signals, func(ctx context.Context) int {
		dir, err := temps.make("firn-test-")
		if err != nil {
			t.Error(err)
		}
		writeFile(t, dir+"/log", []byte("much"))
		signals <- syscall.SIGTERM
		<-ctx.Done()
		signals <- os.Interrupt
		<-stuck
		return 77
	}, temps.removeAll)
	left, err := os.ReadDir(parent)
	if status != 130 || len(left) > 0 || err != nil {
		t.Errorf("status %d, left %v, %v", status, left, err)
	}
}
