//go:build unix || windows

package main

import (
	"os"
	"syscall"
)

// endings are the signals that ask the program to end. SIGPIPE is one of them:
// nobody reads the output any more.
var endings = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE}
