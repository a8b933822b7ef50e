//go:build unix || windows

package main

import (
	"os"
	"syscall"
)

// endings are the signals that end the program. SIGPIPE is one of them:
// nothing reads the output any more.
var endings = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE}
