//go:build !unix && !windows

package main

import "os"

// endings are the signals that end the program.
var endings = []os.Signal{os.Interrupt}
