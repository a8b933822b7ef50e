package house

import (
	"fmt"
	"strings"
	"testing"
)

// The files, lines and knot of each room. New rooms enter with theirs.
func TestRooms(t *testing.T) {
	t.Parallel()
	today, knots := table{}, map[string]string{}
	for _, r := range allRooms(t) {
		lines := 0
		for _, f := range r.files {
			lines += f.lines()
		}
		group := names(knot(uses(r.files)))
		today[r.dir] = []int{len(r.files), lines, len(group)}
		knots[r.dir] = strings.Join(group, " ")
	}
	b := budget{
		name:    "rooms",
		columns: []column{{"files", true}, {"lines", true}, {"files in the knot", false}},
		enters:  true,
		advice: func(dir string) string {
			return fmt.Sprintf("give what is new a direction, so that one of these files can be read without the others: %s", knots[dir])
		},
	}
	b.hold(t, today)
}
