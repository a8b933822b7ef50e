package command

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// screen is a terminal that knows nothing but carriage returns and line feeds.
type screen struct {
	columns       int
	lines         [][]rune
	row, column   int
	beyond        bool // something was written in the last column
	escapes       int
	cursorAtStart bool
}

func (s *screen) Write(p []byte) (int, error) {
	for _, r := range string(p) {
		switch {
		case r == '\r':
			s.column = 0
		case r == '\n':
			s.row++
		case r < ' ':
			s.escapes++
		default:
			s.put(r)
		}
	}
	s.cursorAtStart = s.column == 0
	return len(p), nil
}

func (s *screen) put(r rune) {
	for len(s.lines) <= s.row {
		s.lines = append(s.lines, []rune(strings.Repeat(" ", s.columns)))
	}
	s.lines[s.row][s.column] = r
	if s.column++; s.column == s.columns {
		s.row, s.column, s.beyond = s.row+1, 0, true
	}
}

func (s *screen) text() string {
	var lines []string
	for _, line := range s.lines {
		lines = append(lines, strings.TrimRight(string(line), " "))
	}
	return strings.Join(lines, "\n")
}

// Whatever is drawn after whatever else, one line shows the last, and no more
// than it.
func TestProgressIsOneLine(t *testing.T) {
	t.Parallel()
	texts := []string{"firn   1 %, 0 requests", strings.Repeat("löng ", 60), "short", "", "firn 100 %, 10 M requests, 0s left"}
	for columns := 1; columns <= 200; columns++ {
		s := &screen{columns: columns}
		for _, text := range texts {
			drawLine(s, text, columns)
			want := []rune(text)
			want = want[:min(len(want), columns-1)]
			if got := s.text(); got != strings.TrimRight(string(want), " ") || s.row != 0 || s.beyond || s.escapes > 0 || !s.cursorAtStart {
				t.Fatalf("%d columns, %q: got %q, %+v", columns, text, got, s)
			}
		}
	}
}

// A window that becomes larger may show more of what was there before: it goes.
func TestProgressAfterResize(t *testing.T) {
	t.Parallel()
	s := &screen{columns: 120}
	fmt.Fprint(s, strings.Repeat("x", 110))
	drawLine(s, "firn  50 %", 120)
	if s.text() != "firn  50 %" || s.row != 0 || s.beyond {
		t.Errorf("%q, %+v", s.text(), s)
	}
}

func TestProgressText(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		requests int64
		share    float64
		elapsed  time.Duration
		want     string
	}{
		{0, 0, time.Second, "firn   0 %, 0 requests"},
		{1234, 0.001, time.Second, "firn   0 %, 1.2 k requests, 16m39s left"},
		{1_000_000, 0.25, 5 * time.Second, "firn  25 %, 1 M requests, 15s left"},
		{29_990_000, 1, time.Minute, "firn 100 %, 29.9 M requests, 0s left"},
	} {
		got := progressText("firn", requestsDone(test.requests), test.share, test.elapsed)
		if got != test.want || utf8.RuneCountInString(got) > 42 {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

// What is no terminal gets nothing: a buffer, a file, a pipe.
func TestNoProgressOutsideTerminals(t *testing.T) {
	t.Parallel()
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var buffer bytes.Buffer
	unasked := func() (string, float64) { panic("asked for progress that nobody sees") }
	ShowProgress(&buffer, "firn", unasked)()
	ShowProgress(file, "firn", unasked)()
	if info, err := file.Stat(); err != nil || info.Size() > 0 || buffer.Len() > 0 {
		t.Error(fmt.Sprint(info), err, buffer.String())
	}
}
