package load

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/firncache/firn/internal/local"
)

// That loaded values are too large to be stored, which no caller is told, is logged
// once, and not at all when there was no room for a moment.
func TestUnstoredIsLoggedOnce(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]string{
		local.ErrNoRoom: "", local.ErrClosed: "",
		local.ErrTooLarge: "too large to be stored",
	} {
		var lines bytes.Buffer
		l := logger{to: slog.New(slog.NewTextHandler(&lines, nil))}
		for range 2 {
			l.noteUnstored(fmt.Errorf("wrapped: %w", err))
		}
		got := lines.String()
		if n := strings.Count(got, "\n"); (n == 0) != (want == "") || n > 1 || !strings.Contains(got, want) {
			t.Errorf("%v: logged %q, want one line with %q, or none", err, got, want)
		}
	}
}

// Panics that nobody waited for are logged, one line in ten seconds, which tells of the
// others.
func TestPanicsAreLogged(t *testing.T) {
	t.Parallel()
	var lines bytes.Buffer
	l := logger{to: slog.New(slog.NewTextHandler(&lines, nil))}
	for i, now := range []int64{1, 2, 10_000, 10_001} {
		l.panicked(&panicked{value: fmt.Sprint("boom ", i), stack: []byte("where")}, now)
	}
	got := strings.Split(strings.TrimSpace(lines.String()), "\n")
	if len(got) != 2 || !strings.Contains(got[0], `"boom 0"`) || !strings.Contains(got[0], "stack=where") ||
		!strings.Contains(got[1], `"boom 3"`) || !strings.Contains(got[1], `"unlogged before"=2`) {
		t.Errorf("logged %q: want the first and the fourth, with 2 unlogged before", got)
	}
}
