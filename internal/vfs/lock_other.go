//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package vfs

import "io"

// lockDir does nothing: directories cannot be locked here.
func lockDir(string) (io.Closer, error) { return nil, nil }
