package house

import (
	"fmt"
	"testing"
)

// leastLines is what a file needs to be worth opening.
const leastLines = 25

// No product file is shorter than leastLines, unless it is doc.go, or built for some
// systems or tags alone.
func TestSmallFiles(t *testing.T) {
	var small []string
	for _, f := range allFiles(t) {
		if f.isProduct() && f.lines() < leastLines && f.name() != "doc.go" && !f.isConstrained() {
			small = append(small, f.path)
		}
	}
	b := budget{name: "small", advice: func(string) string {
		return fmt.Sprintf("it has fewer than %d lines: put them where they are used", leastLines)
	}}
	b.hold(t, exceptions(small))
}
