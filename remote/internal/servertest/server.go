package servertest

import (
	"crypto/tls"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Patience is how long anything may take that only a fault delays.
const Patience = time.Minute

// Options of a server; the zero Options are those of one without a password, on a port.
type Options struct {
	Binary    Binary   // the first of Binaries if zero
	Password  string   // of the user default
	Users     []string // ACLs, as "alice on >secret ~ns:* &* +@all"
	TLS       bool     // instead of plain text; the certificate is of 127.0.0.1 and localhost
	Unix      bool     // a socket instead of a port
	MaxMemory string   // as "10mb"
	IOThreads int
	ReplicaOf *Server
	Config    []string // further lines of the configuration
}

// Server is a server's process.
type Server struct {
	Binary Binary
	Addr   string // 127.0.0.1:port, or the path of the socket
	Dir    string

	t       testing.TB
	opts    Options
	port    int
	certs   *certificates
	dialer  *tls.Config // nil for plain text
	fixed   []string    // lines of the configuration that a cluster adds
	process *process    // nil if it does not run
	frozen  bool
	log     *lines
}

// Start starts a server, and returns when it takes connections.
func Start(t testing.TB, o Options) *Server {
	t.Helper()
	s := prepare(t, o)
	s.choosePort()
	if err := s.run(); err != nil {
		t.Fatalf("%s: %v\n%s", s.Binary.Path, err, s.log.text())
	}
	return s
}

// prepare is a server that does not run.
func prepare(t testing.TB, o Options) *Server {
	t.Helper()
	if o.Binary.Path == "" {
		o.Binary = Binaries(t)[0]
	}
	s := &Server{Binary: o.Binary, Dir: t.TempDir(), t: t, opts: o, log: newLines()}
	if o.TLS {
		s.certs = newCertificates(t, s.Dir)
		s.dialer = s.certs.client()
	}
	t.Cleanup(s.Kill)
	return s
}

// choosePort finds a free port, or a socket's path that is short enough for one.
func (s *Server) choosePort() {
	if !s.opts.Unix {
		s.port = FreePort(s.t)
		s.Addr = net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port))
		return
	}
	dir, err := os.MkdirTemp("", "srv")
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { os.RemoveAll(dir) })
	s.Addr = filepath.Join(dir, "s")
}

// run starts the process, and waits until it takes connections.
func (s *Server) run() error {
	conf := filepath.Join(s.Dir, "server.conf")
	if err := os.WriteFile(conf, []byte(strings.Join(s.config(), "\n")+"\n"), 0o600); err != nil {
		return err
	}
	cmd := exec.Command(s.Binary.Path, conf)
	cmd.Dir = s.Dir
	from := s.log.mark()
	p, err := startProcess(cmd, s.log)
	if err != nil {
		return err
	}
	s.process, s.frozen = p, false
	if !s.log.wait(from, p.ended, "Ready to accept connections", "ready to accept connections at") {
		s.Kill()
		return fmt.Errorf("it has ended, or does not become ready within %v", Patience)
	}
	return nil
}

// config is the lines of the configuration.
func (s *Server) config() []string {
	o := s.opts
	c := []string{
		"dir " + s.Dir, "bind 127.0.0.1", "protected-mode no", "daemonize no", "loglevel notice",
		`save ""`, "appendonly no", "repl-diskless-sync-delay 0",
	}
	add := func(when bool, lines ...string) {
		if when {
			c = append(c, lines...)
		}
	}
	add(s.Binary.AtLeast(7, 0), "enable-debug-command local", "shutdown-timeout 0")
	add(o.Unix, "port 0", "unixsocket "+s.Addr)
	add(!o.Unix && !o.TLS, fmt.Sprint("port ", s.port))
	add(o.TLS, "port 0", fmt.Sprint("tls-port ", s.port), "tls-auth-clients no", "tls-replication yes")
	if o.TLS {
		c = append(c, s.certs.config()...)
	}
	add(o.Password != "", "requirepass "+o.Password, "masterauth "+o.Password)
	for _, u := range o.Users {
		c = append(c, "user "+u)
	}
	add(o.MaxMemory != "", "maxmemory "+o.MaxMemory)
	add(o.IOThreads > 0, fmt.Sprint("io-threads ", o.IOThreads))
	if r := o.ReplicaOf; r != nil {
		c = append(c, fmt.Sprintf("replicaof 127.0.0.1 %d", r.port))
		add(r.opts.Password != "", "masterauth "+r.opts.Password)
	}
	return append(append(c, s.fixed...), o.Config...)
}

// TLS is what a client needs to trust the server; nil for plain text.
func (s *Server) TLS() *tls.Config {
	if s.dialer == nil {
		return nil
	}
	return s.dialer.Clone()
}

// Pid is the process's; 0 if it does not run.
func (s *Server) Pid() int {
	if s.process == nil {
		return 0
	}
	return s.process.cmd.Process.Pid
}

// Mark is the present end of the log, for WaitLog.
func (s *Server) Mark() int { return s.log.mark() }

// WaitLog waits for a line of the log after a mark that contains one of the texts. The test
// fails if the process ends first, or after Patience.
func (s *Server) WaitLog(from int, texts ...string) {
	s.t.Helper()
	if s.process == nil || !s.log.wait(from, s.process.ended, texts...) {
		s.t.Fatalf("the log of %s has no line with any of %q after line %d:\n%s", s.Addr, texts, from, s.log.text())
	}
}

// WaitSynced waits until a replica has its primary's data, if it has not had since it started.
func (s *Server) WaitSynced() {
	s.t.Helper()
	s.WaitLog(0, "sync: Finished with success", "Successful partial resynchronization")
}
