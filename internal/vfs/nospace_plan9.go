package vfs

import "errors"

// errsFull is the error of a full Mem: Plan 9 has no such number.
var errsFull = []error{errors.New("no space left on device")}
