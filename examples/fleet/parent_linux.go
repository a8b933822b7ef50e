package main

import (
	"os/exec"
	"syscall"
)

// dieWithParent has a process end if this one is killed.
func dieWithParent(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
