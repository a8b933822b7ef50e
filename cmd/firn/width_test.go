package main

import (
	"regexp"
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

// Help is broken into lines once: a line of one word that is not the last of its paragraph would have
// been broken before.
func TestHelpIsBrokenOnce(t *testing.T) {
	t.Parallel()
	short := regexp.MustCompile(`(?m)^   \S{1,12}\n   \S`)
	for _, args := range []string{"replay -h", "plan -h", "inspect -h", "verify -h"} {
		_, stdout, _ := runFirn(strings.Fields(args)...)
		if line := short.FindString(stdout); line != "" {
			t.Errorf("firn %s: a line of one word: %q", args, line)
		}
	}
}
