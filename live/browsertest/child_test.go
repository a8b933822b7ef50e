package browsertest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

// childEnv makes the test's program a server: the address to listen at.
const childEnv = "FIRN_BROWSERTEST_SERVE"

// child is a server in a process of its own, which a line asks for one thing, and which
// answers in a line.
type child struct {
	*testing.T
	command *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Scanner
	addr    string
}

// startChild starts a server at an address, 127.0.0.1:0 for any.
func startChild(t *testing.T, addr string) *child {
	t.Helper()
	c := &child{T: t, command: exec.Command(os.Args[0])}
	c.command.Env = append(os.Environ(), childEnv+"="+addr)
	c.command.Stderr = os.Stderr
	var err error
	c.in, err = c.command.StdinPipe()
	must(t, err)
	out, err := c.command.StdoutPipe()
	must(t, err)
	must(t, c.command.Start())
	t.Cleanup(c.kill)
	c.out = bufio.NewScanner(out)
	c.addr = c.answer()
	return c
}

// ask sends a line, and returns the answer.
func (c *child) ask(line string) string {
	c.Helper()
	if _, err := fmt.Fprintln(c.in, line); err != nil {
		c.Fatal(err)
	}
	return c.answer()
}

func (c *child) answer() string {
	c.Helper()
	if !c.out.Scan() {
		c.Fatalf("the server ended: %v", c.out.Err())
	}
	answer, failed := strings.CutPrefix(c.out.Text(), "error ")
	if failed {
		c.Fatal(answer)
	}
	return answer
}

// kill ends the process, as kill -9 does.
func (c *child) kill() {
	_ = c.command.Process.Kill()
	_ = c.command.Wait()
}

// serveAsChild is the server's main.
func serveAsChild(in io.Reader, out io.Writer) (status int) {
	dir, err := os.MkdirTemp("", "firn-browsertest-")
	if err == nil {
		defer os.RemoveAll(dir)
		err = answerParent(dir, in, out)
	}
	if err != nil {
		fmt.Fprintln(out, "error", err)
		return 1
	}
	return 0
}

func answerParent(dir string, in io.Reader, out io.Writer) error {
	w, err := newWorld(spec{ram: small.ram, work: small.work}, dir)
	if err != nil {
		return err
	}
	defer w.close()
	listener, err := net.Listen("tcp", os.Getenv(childEnv))
	if err != nil {
		return err
	}
	go func() { _ = http.Serve(listener, w.page) }()
	fmt.Fprintln(out, listener.Addr())
	for lines := bufio.NewScanner(in); lines.Scan(); {
		answer, err := w.do(lines.Text())
		if err != nil {
			return err
		}
		fmt.Fprintln(out, answer)
	}
	return nil
}

// do is what a line asks for.
func (w *world) do(line string) (answer string, err error) {
	switch line {
	case "tick": // a second of work
		return "done", w.tick(1)
	case "frame": // a second without
		return "done", w.idle()
	case "cpu": // nanoseconds that the process has taken of the processors
		return fmt.Sprint(processorTime().Nanoseconds()), nil
	case "collect": // so that what follows begins alike
		runtime.GC()
		return "done", nil
	}
	return "", fmt.Errorf("%q: want tick, frame, cpu or collect", line)
}
