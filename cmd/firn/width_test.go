package main

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// What people read fits into the 80 columns that most terminals have.
func TestWidth(t *testing.T) {
	t.Parallel()
	for _, args := range []string{"-h", "replay -h", "plan -h", "inspect -h", "verify -h", "plan -data 100GB -ram 32GiB -ssd 128GiB", "replay -limit 1000 -ram 1MiB -ssd 8MiB"} {
		_, stdout, _ := runFirn(strings.Fields(args)...)
		for line := range strings.Lines(stdout) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 {
				t.Errorf("firn %s: %d columns: %s", args, n, line)
			}
		}
	}
}
