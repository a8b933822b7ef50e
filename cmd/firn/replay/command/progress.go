package command

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
	"golang.org/x/term"

	"github.com/firncache/firn/cmd/firn/internal/curve"
)

// refresh is how often the progress is drawn.
const refresh = 200 * time.Millisecond

// ShowProgress shows on one line of w which share is done and the time left,
// until the function it returns is called, which erases the line. It shows
// nothing unless w is a terminal. state says in a few words what is done, and
// the share of all that it is; it is called from another goroutine.
func ShowProgress(w io.Writer, message string, state func() (done string, share float64)) (stop func()) {
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return func() {}
	}
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(refresh)
		defer tick.Stop()
		for start := time.Now(); ; {
			select {
			case <-tick.C:
				done, share := state()
				drawLine(w, progressText(message, done, share, time.Since(start)), columns(file))
			case <-quit:
				drawLine(w, "", columns(file))
				return
			}
		}
	}()
	return func() { close(quit); <-done }
}

// columns is the width of a terminal; it may change at any time.
func columns(terminal *os.File) int {
	if n, _, err := term.GetSize(int(terminal.Fd())); err == nil && n > 0 {
		return n
	}
	return 80
}

// StyleOf is what w shows: as many columns as it has if it is a terminal, and otherwise as most have,
// and no more than plain text.
func StyleOf(w io.Writer) curve.Style {
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return curve.Style{Columns: 80, Plain: true}
	}
	return curve.Style{Columns: columns(file), Plain: os.Getenv("TERM") == "dumb"}
}

// progressText says how far something has come, in so few words that a window
// made smaller seldom breaks them in two.
func progressText(message, done string, share float64, elapsed time.Duration) string {
	text := fmt.Sprintf("%s %3.0f %%, %s", message, 100*share, done)
	if share <= 0 {
		return text
	}
	left := time.Duration(float64(elapsed) * (1 - share) / share)
	return fmt.Sprintf("%s, %s left", text, left.Round(time.Second))
}

// requestsDone says a number of requests in a few words: 3.4 M requests.
func requestsDone(n int64) string {
	return strings.TrimSpace(humanize.SIWithDigits(float64(n), 1, "")) + " requests"
}

// drawLine replaces what the line of the cursor shows by text, cut to fit a
// terminal of some columns: in the last one some terminals go on to the next line.
// It takes nothing of the terminal but that a carriage return goes back to the
// first column: no escape sequences, which not every terminal knows. The rest of
// the line is written over, whatever it was before the window changed its size.
// The cursor rests in the first column: what others print begins there, and a
// terminal that breaks its lines again keeps it where the line begins.
func drawLine(w io.Writer, text string, columns int) {
	room := max(columns-1, 0)
	if utf8.RuneCountInString(text) > room {
		text = string([]rune(text)[:room])
	}
	fmt.Fprintf(w, "\r%-*s\r", room, text)
}
