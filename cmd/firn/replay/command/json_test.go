package command

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file that is no result of an earlier run is not written over.
func TestOpenJSON(t *testing.T) {
	t.Parallel()
	for content, replaced := range map[string]bool{"": true, "{\"cache\":\"firn\"}\n": true, "\x28\xb5\x2f\xfd": false, "key,size\n": false} {
		path := filepath.Join(t.TempDir(), "out")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		out, closeFile, err := OpenJSON(path, io.Discard)
		if (err == nil) != replaced {
			t.Errorf("%q: %v", content, err)
		}
		if err == nil {
			if err := errors.Join(out.Encode(struct{}{}), closeFile()); err != nil {
				t.Fatal(err)
			}
		} else if !errors.Is(err, errUsage) || !strings.Contains(err.Error(), path) {
			t.Errorf("%q: %v", content, err)
		}
		got, err := os.ReadFile(path)
		if want := map[bool]string{true: "{}\n", false: content}[replaced]; err != nil || string(got) != want {
			t.Errorf("%q became %q, %v: want %q", content, got, err, want)
		}
	}
}
