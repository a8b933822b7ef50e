//go:build !linux

package kill

import (
	"os"
	"testing"
)

// asNobody calls f as a user whom the rights of files concern.
func asNobody(t *testing.T, f func()) {
	t.Helper()
	if os.Geteuid() <= 0 {
		t.Skip("root, or a system without rights of this kind: it may do what others may not")
	}
	f()
}
