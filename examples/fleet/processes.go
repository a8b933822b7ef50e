package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"
)

// servers are the programs that serve, in the order in which they are looked for.
var servers = []string{"redis-server", "valkey-server"}

var errNoServer = errors.New("there is neither redis-server nor valkey-server in PATH: install one (apt install redis-server, brew install valkey), or name a running one with -server host:port")

// startServer starts a server that keeps nothing, and returns its address once it listens.
func startServer(ctx context.Context) (addr, name string, stop func(), err error) {
	for _, name = range servers {
		if _, err = exec.LookPath(name); err == nil {
			break
		}
	}
	if err != nil {
		return "", "", nil, errNoServer
	}
	l, err := net.Listen("tcp", "127.0.0.1:0") // a free port
	if err != nil {
		return "", "", nil, err
	}
	addr = l.Addr().String()
	l.Close()
	_, port, _ := net.SplitHostPort(addr)
	cmd := exec.CommandContext(ctx, name, "--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", os.TempDir())
	dieWithParent(cmd)
	if err := cmd.Start(); err != nil {
		return "", "", nil, err
	}
	stop = func() { _, _ = cmd.Process.Kill(), cmd.Wait() }
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		c, err := net.Dial("tcp", addr)
		if err == nil {
			return addr, name, stop, c.Close()
		}
		if time.Now().After(deadline) {
			stop()
			return "", "", nil, fmt.Errorf("%s does not listen: %w", name, err)
		}
	}
}

// process is a process of the service.
type process struct {
	name string
	url  string
	net  *network
	stop func() error
}

// The environment of a process of the service.
const (
	listEnv   = "FLEET_PRICE_LIST"
	serverEnv = "FLEET_SERVER"
)

// startProcess starts this program as a process of the service.
func startProcess(ctx context.Context, name, list, server string) (*process, error) {
	n, err := newNetwork(server)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), listEnv+"="+list, serverEnv+"="+n.addr())
	cmd.Stderr = os.Stderr
	dieWithParent(cmd)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, errors.Join(err, n.close())
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, errors.Join(err, n.close())
	}
	p := &process{name: name, net: n}
	p.stop = func() error {
		in.Close() // it ends when its input does
		return errors.Join(cmd.Wait(), n.close())
	}
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, errors.Join(fmt.Errorf("process %s did not start: %w", name, err), p.stop())
	}
	p.url = strings.TrimSpace(url)
	return p, nil
}

// serve is what such a process does, until its input ends. It reports false in any other.
func serve() (served bool, err error) {
	list, server := os.Getenv(listEnv), os.Getenv(serverEnv)
	if list == "" || server == "" {
		return false, nil
	}
	slog.SetLogLoggerLevel(slog.LevelError) // what there is to say, the story says
	s, err := NewService(list, server)
	if err != nil {
		return true, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return true, errors.Join(err, s.cache.Close())
	}
	h := &http.Server{Handler: &s.mux, ReadHeaderTimeout: time.Second}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = h.Close()
	}()
	fmt.Println("http://" + l.Addr().String())
	if err = h.Serve(l); errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return true, errors.Join(err, s.cache.Close())
}
