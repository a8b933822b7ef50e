package servertest

import (
	"bufio"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// process is a running program whose output is read.
type process struct {
	cmd   *exec.Cmd
	ended chan struct{} // closed when it has ended and was waited for
}

func startProcess(cmd *exec.Cmd, to *lines) (*process, error) {
	diesWithParent(cmd)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, ended: make(chan struct{})}
	go func() {
		defer close(p.ended)
		to.readFrom(out)
		_ = cmd.Wait() // how it ended is in the log
	}()
	return p, nil
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.ended
}

// lines is a log that can be waited for.
type lines struct {
	mu   sync.Mutex
	all  []string
	more chan struct{} // closed when a line is added
}

func newLines() *lines { return &lines{more: make(chan struct{})} }

func (l *lines) readFrom(r io.Reader) {
	for s := bufio.NewScanner(r); s.Scan(); {
		l.mu.Lock()
		l.all = append(l.all, s.Text())
		close(l.more)
		l.more = make(chan struct{})
		l.mu.Unlock()
	}
}

func (l *lines) mark() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.all)
}

func (l *lines) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.all, "\n")
}

// wait waits for a line from a mark on with one of the texts. It reports false when the
// process has ended, or after Patience.
func (l *lines) wait(from int, ended <-chan struct{}, texts ...string) bool {
	late := time.NewTimer(Patience)
	defer late.Stop()
	for {
		l.mu.Lock()
		fresh, more := l.all[min(from, len(l.all)):], l.more
		l.mu.Unlock()
		for _, line := range fresh {
			if containsAny(line, texts) {
				return true
			}
		}
		select {
		case <-more:
		case <-late.C:
			return false
		case <-ended:
			select {
			case <-more: // its last lines
			default:
				return false
			}
		}
	}
}

func containsAny(line string, texts []string) bool {
	for _, text := range texts {
		if strings.Contains(line, text) {
			return true
		}
	}
	return false
}
