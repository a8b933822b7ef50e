//go:build unix

package servertest

import "syscall"

func (p *process) freeze() error { return p.cmd.Process.Signal(syscall.SIGSTOP) }
func (p *process) thaw() error   { return p.cmd.Process.Signal(syscall.SIGCONT) }

// terminate lets the process end orderly.
func (p *process) terminate() error {
	err := p.cmd.Process.Signal(syscall.SIGTERM)
	if err == nil {
		<-p.ended
	}
	return err
}
