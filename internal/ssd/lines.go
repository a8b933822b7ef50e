package ssd

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// lines are what the tier tells the user's logger. A goroutine hands them over,
// one by one, which is there as long as there are some: the tier tells them
// wherever it is, and a handler may take its time, or use the cache.
type lines struct {
	logger *slog.Logger

	mu      sync.Mutex
	waiting []line
	lost    int           // lines that there was no room for
	ended   chan struct{} // closed when none are left; nil: none are
}

type line struct {
	level slog.Level
	what  string
	args  []any
}

// mostLines is how many lines wait for a handler at most.
const mostLines = 64

func (l *lines) info(what string, args ...any)  { l.tell(slog.LevelInfo, what, args) }
func (l *lines) warn(what string, args ...any)  { l.tell(slog.LevelWarn, what, args) }
func (l *lines) error(what string, args ...any) { l.tell(slog.LevelError, what, args) }

func (l *lines) tell(level slog.Level, what string, args []any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting) == mostLines {
		l.lost++
		return
	}
	if l.lost > 0 {
		args = append(args, "lines_lost", l.lost)
		l.lost = 0
	}
	l.waiting = append(l.waiting, line{level, what, args})
	if l.ended == nil {
		l.ended = make(chan struct{})
		go l.handOver(l.ended)
	}
}

// handOver ends when no line is left.
func (l *lines) handOver(ended chan<- struct{}) {
	defer close(ended)
	for {
		l.mu.Lock()
		if len(l.waiting) == 0 {
			l.ended = nil
			l.mu.Unlock()
			return
		}
		next := l.waiting[0]
		l.waiting = l.waiting[1:]
		l.mu.Unlock()
		l.logger.Log(context.Background(), next.level, next.what, next.args...)
	}
}

// wait returns when all lines have been handed over, or patience is over: the
// handler may be what waits for Close.
func (l *lines) wait(patience time.Duration) {
	l.mu.Lock()
	ended := l.ended
	l.mu.Unlock()
	if ended == nil {
		return
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
	}
}
