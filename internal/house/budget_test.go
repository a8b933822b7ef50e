package house

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the tables in testdata; figures that never rise are not raised")

// budget is a table of figures in testdata, with what to do when one has risen.
type budget struct {
	name    string   // of the table's file
	columns []column // of each row, after its name; none: the row itself is the exception
	enters  bool     // whether a row that is new may enter with its figures
	advice  func(row string) string
}

// column is a figure of each row.
type column struct {
	name  string
	rises bool // whether -update may raise it
}

// table has the figures of each row, by the row's name.
type table map[string][]int

// change is a difference between the sources and the table.
type change struct {
	row, text string
	allowed   bool // whether -update may write it
	gain      bool // something fell, or went
}

// hold compares the figures of today with the table. With -update it writes the table as
// far as that is allowed.
func (b *budget) hold(t *testing.T, today table) {
	t.Helper()
	p := filepath.Join("testdata", b.name+".txt")
	head, held, err := b.read(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range b.compare(held, today) {
		switch {
		case *update && c.allowed:
		case c.gain:
			t.Errorf("%s: %s: run go test ./internal/house -update, so that the gain stays", c.row, c.text)
		case c.allowed:
			t.Errorf("%s: %s: make it smaller, or run go test ./internal/house -update and say why in the commit", c.row, c.text)
		default:
			t.Errorf("%s: %s, and this never rises: %s", c.row, c.text, b.advice(c.row))
		}
	}
	if *update {
		if err := os.WriteFile(p, []byte(b.format(head, b.updated(held, today))), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// compare lists what differs from the table, by rows.
func (b *budget) compare(held, today table) (changes []change) {
	for _, row := range slices.Sorted(maps.Keys(today)) {
		was, known := held[row]
		if !known {
			changes = append(changes, change{row, "it is new in " + b.name + ".txt (or renamed: rename its row)", b.enters, false})
			continue
		}
		for i, c := range b.columns {
			if text := c.compare(was[i], today[row][i]); text != "" {
				fell := today[row][i] < was[i]
				changes = append(changes, change{row, text, c.rises || fell, fell})
			}
		}
	}
	for _, row := range slices.Sorted(maps.Keys(held)) {
		if _, there := today[row]; !there {
			changes = append(changes, change{row, "it is no more in the sources", true, true})
		}
	}
	return changes
}

// compare says how a figure differs by more than it may, or nothing.
func (c column) compare(was, is int) string {
	switch {
	case is > was:
		return fmt.Sprintf("%s: %d, at most %d", c.name, is, was)
	case is < was && (!c.rises || is*100 < was*95):
		return fmt.Sprintf("%s: %d, and the table still allows %d", c.name, is, was)
	}
	return ""
}

// updated is the table after -update: what has changed and may be written. A row all of
// whose figures are within bounds stays as it is, so that merges meet few changed rows.
func (b *budget) updated(held, today table) table {
	updated := table{}
	for row, figures := range today {
		was, known := held[row]
		switch {
		case !known && b.enters:
			updated[row] = figures
		case known:
			updated[row] = b.updatedRow(was, figures)
		}
	}
	return updated
}

func (b *budget) updatedRow(was, is []int) []int {
	row := slices.Clone(was)
	for i, c := range b.columns {
		if c.compare(was[i], is[i]) != "" && (c.rises || is[i] < was[i]) {
			row[i] = is[i]
		}
	}
	return row
}

// read reads a table: lines of comment, then rows. The figures stand last in a row.
func (b *budget) read(p string) (head string, rows table, err error) {
	text, err := os.ReadFile(p)
	if err != nil {
		return "", nil, err
	}
	rows = table{}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			head += line
			continue
		}
		words := strings.Fields(line)
		n := len(words) - len(b.columns)
		if n < 1 {
			return "", nil, fmt.Errorf("%s: %q: want a name and %d figures", p, line, len(b.columns))
		}
		figures := []int{}
		for _, word := range words[n:] {
			figure, err := strconv.Atoi(word)
			if err != nil {
				return "", nil, fmt.Errorf("%s: %q: %w", p, line, err)
			}
			figures = append(figures, figure)
		}
		rows[strings.Join(words[:n], " ")] = figures
	}
	return head, rows, nil
}

// format writes a table as read reads it, sorted.
func (b *budget) format(head string, rows table) string {
	text := strings.Builder{}
	text.WriteString(head)
	for _, row := range slices.Sorted(maps.Keys(rows)) {
		text.WriteString(row)
		for _, figure := range rows[row] {
			fmt.Fprintf(&text, " %d", figure)
		}
		text.WriteString("\n")
	}
	return text.String()
}

// exceptions makes a table of rows without figures.
func exceptions(rows []string) table {
	t := table{}
	for _, row := range rows {
		t[row] = []int{}
	}
	return t
}

// -update raises what may rise, lowers what fell, and refuses the rest.
func TestUpdate(t *testing.T) {
	b := budget{name: "example", columns: []column{{"lines", true}, {"knot", false}}, enters: true}
	held := table{"a": {100, 5}, "b": {100, 5}, "c": {100, 5}, "gone": {1, 1}}
	today := table{"a": {101, 6}, "b": {94, 4}, "c": {95, 5}, "new": {7, 7}}
	want := table{"a": {101, 5}, "b": {94, 4}, "c": {100, 5}, "new": {7, 7}}
	if got := b.updated(held, today); !maps.EqualFunc(got, want, slices.Equal) {
		t.Errorf("updated: %v, want %v", got, want)
	}
	var texts []string
	for _, c := range b.compare(held, today) {
		texts = append(texts, fmt.Sprintf("%s %s %v", c.row, c.text, c.allowed))
	}
	wantTexts := []string{
		"a lines: 101, at most 100 true", "a knot: 6, at most 5 false",
		"b lines: 94, and the table still allows 100 true", "b knot: 4, and the table still allows 5 true",
		"new it is new in example.txt (or renamed: rename its row) true", "gone it is no more in the sources true",
	}
	if !slices.Equal(texts, wantTexts) {
		t.Errorf("compare:\n%s\nwant:\n%s", strings.Join(texts, "\n"), strings.Join(wantTexts, "\n"))
	}
	strict := budget{name: "example"}
	if got := strict.updated(exceptions([]string{"a", "gone"}), exceptions([]string{"a", "new"})); len(got) != 1 || got["a"] == nil {
		t.Errorf("exceptions after -update: %v, want a alone", got)
	}
}
