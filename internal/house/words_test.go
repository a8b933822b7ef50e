package house

import (
	"fmt"
	"go/ast"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// dialect matches the words of a dialect that comments slide into: they personify the code,
// or put a clause before the fact.
var dialect = regexp.MustCompile(`\b(?:told|tells?|ask(?:s|ed)?|nobody|somebody|whoever|of which|of whom|lest|anew|for want of|but for)\b`)

// The words of the dialect for 1,000 lines of comments, by rooms. The count is a
// sign; the judge is a reader who has not seen the text before.
func TestWords(t *testing.T) {
	t.Parallel()
	today := table{}
	found := map[string]map[string]int{}
	for _, r := range allRooms(t) {
		lines, words := 0, 0
		found[r.dir] = map[string]int{}
		for _, f := range r.files {
			for _, c := range f.ast.Comments {
				lines += commentLines(c)
				for _, word := range dialect.FindAllString(strings.ToLower(c.Text()), -1) {
					words++
					found[r.dir][strings.Join(strings.Fields(word), " ")]++
				}
			}
		}
		if lines > 0 {
			today[r.dir] = []int{(words*1000 + lines - 1) / lines} // rounded up
		}
	}
	b := budget{name: "words", columns: []column{{"words of the dialect in 1,000 lines of comments (-v prints them)", true}}, enters: true}
	b.hold(t, today)
	if testing.Verbose() {
		for _, dir := range slices.Sorted(maps.Keys(today)) {
			t.Logf("%s: %d: %s", dir, today[dir][0], fmt.Sprint(found[dir]))
		}
	}
}

func commentLines(c *ast.CommentGroup) int {
	return positions.Position(c.End()).Line - positions.Position(c.Pos()).Line + 1
}
