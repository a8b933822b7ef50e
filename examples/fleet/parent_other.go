//go:build !linux

package main

import "os/exec"

// dieWithParent has a process end if this one is killed, where the system can.
func dieWithParent(*exec.Cmd) {}
