//go:build !linux

package hybrid

import "os"

// forget does nothing: this system cannot be told to forget pages.
func forget(*os.File) error { return nil }
