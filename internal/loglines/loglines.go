// Package loglines passes lines to the user's logger, where nothing may wait for that.
package loglines

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// Logger passes lines to the user's logger from a goroutine of its own, one by
// one, which lives while there are some: a tier logs wherever it is, and a handler
// may take its time, or use the cache.
type Logger struct {
	out *slog.Logger

	mu      sync.Mutex // a leaf; the handler is called without it
	queue   []logLine
	dropped int           // lines that there was no room for
	ended   chan struct{} // closed when none are left; nil: none are
}

// To is a Logger to out.
func To(out *slog.Logger) *Logger { return &Logger{out: out} }

// SetOutput sets where the lines go, before the first.
func (l *Logger) SetOutput(out *slog.Logger) { l.out = out }

type logLine struct {
	level   slog.Level
	message string
	args    []any
}

// maxLogLines is how many lines wait for a handler at most.
const maxLogLines = 64

func (l *Logger) Info(what string, args ...any)  { l.enqueue(slog.LevelInfo, what, args) }
func (l *Logger) Warn(what string, args ...any)  { l.enqueue(slog.LevelWarn, what, args) }
func (l *Logger) Error(what string, args ...any) { l.enqueue(slog.LevelError, what, args) }

func (l *Logger) enqueue(level slog.Level, what string, args []any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) == maxLogLines {
		l.dropped++
		return
	}
	if l.dropped > 0 {
		args = append(args, "lines_lost", l.dropped)
		l.dropped = 0
	}
	l.queue = append(l.queue, logLine{level, what, args})
	if l.ended == nil {
		l.ended = make(chan struct{})
		go l.drain(l.ended)
	}
}

// drain ends when no line is left.
func (l *Logger) drain(ended chan<- struct{}) {
	defer close(ended)
	for {
		l.mu.Lock()
		if len(l.queue) == 0 {
			l.ended = nil
			l.mu.Unlock()
			return
		}
		next := l.queue[0]
		l.queue = l.queue[1:]
		l.mu.Unlock()
		l.out.Log(context.Background(), next.level, next.message, next.args...)
	}
}

// Wait returns when all lines have been handed over, or patience is over, or ctx ends:
// the handler may be what waits for Close.
func (l *Logger) Wait(ctx context.Context, patience time.Duration) {
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
	case <-ctx.Done():
	case <-timer.C:
	}
}
