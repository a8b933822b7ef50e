package servertest

import (
	"os/exec"
	"syscall"
)

// diesWithParent has the process killed when that of the test dies.
func diesWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
