package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// server is a process, with those that it starts.
type server struct {
	name, addr string
	cmd        *exec.Cmd
}

// startAll starts the servers that there are.
func startAll(dir, origin string) (all []*server, err error) {
	runtime.LockOSThread() // the signal comes when the thread ends that started a server
	for _, name := range []string{"slice", "firn", "nginx", "varnish"} {
		s := &server{name: name, addr: freeAddr()}
		switch name {
		case "nginx":
			conf, err := nginxConfIn(dir, s.addr, origin)
			if err != nil {
				return all, err
			}
			s.cmd = exec.Command("nginx", "-c", conf, "-p", dir)
		case "varnish":
			s.cmd = exec.Command("varnishd", "-F", "-n", filepath.Join(dir, "varnish"), "-a", s.addr, "-b", origin, "-s", "malloc,64m")
		default:
			s.cmd = exec.Command(os.Args[0], "-serve", name, "-listen", s.addr)
		}
		if s.cmd.Err != nil {
			fmt.Printf("%s: not installed\n", name)
			continue
		}
		s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM} // it ends with this program, however that does
		if err := s.cmd.Start(); err != nil {
			return all, err
		}
		if all = append(all, s); !s.answers() {
			return all, fmt.Errorf("%s does not start", name)
		}
	}
	return all, nil
}

// answers waits until the server listens.
func (s *server) answers() bool {
	for range 100 {
		if conn, err := net.Dial("tcp", s.addr); err == nil {
			return conn.Close() == nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return false
}

func (s *server) stop() {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	_ = s.cmd.Wait()
}

// cpu is the CPU time of the threads of the server's processes.
func (s *server) cpu() (total time.Duration) {
	for _, pid := range family(s.cmd.Process.Pid) {
		threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
		for _, name := range threads {
			stat, _ := os.ReadFile(name)
			first, _, _ := strings.Cut(string(stat), " ")
			ns, _ := strconv.ParseInt(first, 10, 64)
			total += time.Duration(ns)
		}
	}
	return total
}

// family are a process and its children's children.
func family(pid int) []int {
	all := []int{pid}
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, list := range lists {
		children, _ := os.ReadFile(list)
		for _, f := range strings.Fields(string(children)) {
			if child, err := strconv.Atoi(f); err == nil {
				all = append(all, family(child)...)
			}
		}
	}
	return all
}
