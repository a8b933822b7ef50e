package main

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// stopProcess makes a process stand still until continueProcess.
func stopProcess(p *os.Process) error { return p.Signal(syscall.SIGSTOP) }

// continueProcess is of no use to one that has ended.
func continueProcess(p *os.Process) error {
	if err := p.Signal(syscall.SIGCONT); !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

// endsWithThis makes a process end when this one does: one that stands still would
// not notice.
func endsWithThis(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
