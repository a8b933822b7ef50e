//go:build unix

package servertest

import "syscall"

// freeze returns when the process has stopped.
func (p *process) freeze() error {
	if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	return awaitStopped(p.cmd.Process.Pid)
}

func (p *process) thaw() error { return p.cmd.Process.Signal(syscall.SIGCONT) }

// terminate lets the process end orderly.
func (p *process) terminate() error {
	err := p.cmd.Process.Signal(syscall.SIGTERM)
	if err == nil {
		<-p.ended
	}
	return err
}
