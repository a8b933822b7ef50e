// Command replay runs a workload or traces through a rival of firn, in the
// same loop that `firn replay` runs firn through. It takes the flags of that
// command and -rival NAME, and prints one JSON object for each trace.
package main

import (
	"os"

	"github.com/firncache/firn/cmd/firn/replay/command"
)

func main() {
	os.Exit(command.Rivals(os.Args[1:], os.Stdout, os.Stderr, stores()))
}
