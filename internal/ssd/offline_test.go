package ssd

import (
	"context"
	"testing"

	"github.com/firncache/firn/internal/ssd/check"
	"github.com/firncache/firn/internal/vfs"
)

// verify returns what is wrong with the files.
func verify(t testing.TB, fs vfs.FS) (problems []check.Problem) {
	t.Helper()
	_, err := check.Verify(context.Background(), fs, func(p check.Problem) { problems = append(problems, p) }, nil)
	if err != nil {
		t.Fatal(err)
	}
	return problems
}

func inspect(t testing.TB, fs vfs.FS) *check.Inspection {
	t.Helper()
	in, err := check.Inspect(context.Background(), fs, nil)
	if err != nil {
		t.Fatal(err)
	}
	return in
}
