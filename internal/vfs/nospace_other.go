//go:build !windows && !plan9

package vfs

import "syscall"

// errsFull are the errors of a full file system and of a full quota.
var errsFull = []error{syscall.ENOSPC, syscall.EDQUOT}
