package load

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/firncache/firn/internal/tiered"
)

// That loaded values are too large to be stored, which no caller is told, is logged
// once, and not at all when there was no room for a moment.
func TestUnstoredIsLoggedOnce(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]string{
		tiered.ErrNoRoom: "", tiered.ErrClosed: "",
		tiered.ErrTooLarge: "too large to be stored",
	} {
		var lines bytes.Buffer
		l := unstoredLog{logger: slog.New(slog.NewTextHandler(&lines, nil))}
		for range 2 {
			l.tell(fmt.Errorf("wrapped: %w", err))
		}
		got := lines.String()
		if n := strings.Count(got, "\n"); (n == 0) != (want == "") || n > 1 || !strings.Contains(got, want) {
			t.Errorf("%v: logged %q, want one line with %q, or none", err, got, want)
		}
	}
}
