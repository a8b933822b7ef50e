package vfs

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// errsFull are the errors of a full file system and of a full quota, the
// system's and those that Mem and Faulty use.
var errsFull = []error{syscall.ENOSPC, syscall.EDQUOT, windows.ERROR_DISK_FULL, windows.ERROR_HANDLE_DISK_FULL, windows.ERROR_DISK_QUOTA_EXCEEDED}
