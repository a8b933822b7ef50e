package shared

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
)

// programs are the servers that will do, the first that is found.
var programs = []string{"redis-server", "valkey-server"}

// Server is a server of its own, without persistence.
type Server struct {
	Addr    string
	Version string
	cmd     *exec.Cmd
	dir     string
}

// Installed reports whether there is a server to start.
func Installed() bool { return program() != "" }

func program() string {
	for _, name := range programs {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// StartServer starts a server and waits until it answers. The function has it end with this
// process.
func StartServer(endsWithThis func(*exec.Cmd)) (*Server, error) {
	path := program()
	if path == "" {
		return nil, fmt.Errorf("no server to measure: want %s in PATH", strings.Join(programs, " or "))
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "bench-shared")
	if err != nil {
		return nil, err
	}
	s := &Server{Addr: fmt.Sprintf("127.0.0.1:%d", port), dir: dir}
	s.cmd = exec.Command(path, "--port", fmt.Sprint(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", dir)
	endsWithThis(s.cmd)
	out, err := s.cmd.StdoutPipe()
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		line := lines.Text()
		if _, after, ok := strings.Cut(line, "version="); ok {
			s.Version, _, _ = strings.Cut(after, ",")
		}
		if strings.Contains(strings.ToLower(line), "ready to accept connections") {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return s, nil
		}
	}
	return nil, errors.Join(fmt.Errorf("%s did not start", path), s.Stop())
}

// freePort is a free port.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// Stop ends the server.
func (s *Server) Stop() error {
	err := s.cmd.Process.Kill()
	_ = s.cmd.Wait() // killed
	return errors.Join(err, os.RemoveAll(s.dir))
}
