package ssd

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
)

// told are the lines that a tier logs.
type told struct {
	mu    sync.Mutex
	lines []slog.Record
}

// tell makes a tier log to what it returns.
func tell(cfg *Config) *told {
	l := new(told)
	cfg.Log = slog.New(handling(func(r slog.Record) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.lines = append(l.lines, r)
	}))
	return l
}

// about are the lines that have these words, or an attribute of that name.
func (l *told) about(words string) (lines []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.lines {
		line, named := r.Message, false
		r.Attrs(func(a slog.Attr) bool {
			named = named || a.Key == words
			line += fmt.Sprintf(" %s=%v", a.Key, a.Value)
			return true
		})
		if named || strings.Contains(line, words) {
			lines = append(lines, line)
		}
	}
	return lines
}

// testLog is a test's output until the test ends. What a tier that was left open,
// as by a crash, tells later has no test to belong to.
type testLog struct {
	mu  sync.Mutex
	out io.Writer // nil: the test has ended
}

func logOf(t testing.TB) *testLog {
	l := &testLog{out: t.Output()}
	t.Cleanup(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.out = nil
	})
	return l
}

func (l *testLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.out == nil {
		return len(b), nil
	}
	return l.out.Write(b)
}

// handling is a handler of log lines that calls a function for each.
type handling func(r slog.Record)

func (h handling) Enabled(context.Context, slog.Level) bool      { return true }
func (h handling) Handle(_ context.Context, r slog.Record) error { h(r); return nil }
func (h handling) WithAttrs([]slog.Attr) slog.Handler            { return h }
func (h handling) WithGroup(string) slog.Handler                 { return h }
