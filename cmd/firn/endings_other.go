//go:build !unix && !windows

package main

import "os"

// endings are the signals that ask the program to end.
var endings = []os.Signal{os.Interrupt}
