package main

import (
	"context"
	"os"
	"os/signal"

	"github.com/firncache/firn/cmd/firn/replay/command"
)

// notify makes the endings come on a channel, except those that the program was
// started to ignore, by nohup for example.
func notify() <-chan os.Signal {
	signals := make(chan os.Signal, 2)
	for _, s := range endings {
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
	return signals
}

// attend does work and returns its exit status. The first signal ends the context
// of work, which then reports what it has; the second does not wait for that:
// cleanup is called, and the work left where it is.
func attend(signals <-chan os.Signal, work func(context.Context) int, cleanup func()) (status int) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ended := make(chan int, 1)
	go func() { ended <- work(ctx) }()
	for {
		select {
		case status = <-ended:
			return status
		case <-signals:
			if ctx.Err() != nil {
				cleanup()
				return command.StatusInterrupted
			}
			cancel()
		}
	}
}
