package hybrid

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A Group limits the memory of the processes in it, page cache included: a
// control group of Linux.
type Group struct{ dir string }

// NewGroup makes a group below that of this process, with the given limit.
func NewGroup(bytes int64) (*Group, error) {
	parent, file, err := memoryGroup()
	if err != nil {
		return nil, err
	}
	g := &Group{filepath.Join(parent, fmt.Sprintf("firn-bench-%d", os.Getpid()))}
	if err := os.Mkdir(g.dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(g.dir, file), []byte(strconv.FormatInt(bytes, 10)), 0o644); err != nil {
		return nil, errors.Join(err, g.Remove())
	}
	return g, nil
}

// memoryGroup finds the directory of this process's group, and the name of the
// file with the limit: there are two versions of the interface.
func memoryGroup() (dir, file string, err error) {
	body, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", "", err
	}
	v2 := ""
	for line := range strings.Lines(string(body)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) < 3 {
			continue
		}
		if fields[1] == "memory" {
			return filepath.Join("/sys/fs/cgroup/memory", fields[2]), "memory.limit_in_bytes", nil
		}
		if fields[0] == "0" {
			v2 = filepath.Join("/sys/fs/cgroup", fields[2])
		}
	}
	if v2 == "" {
		return "", "", errors.New("no control groups")
	}
	return v2, "memory.max", nil
}

// Env is the variable that makes a child process join the group; see Join.
func (g *Group) Env() string { return joinVariable + "=" + g.dir }

// Remove takes the group away, which must be empty, or become so within a
// second: the kernel lets go of a killed process bit by bit.
func (g *Group) Remove() (err error) {
	for range 100 {
		if err = os.Remove(g.dir); err == nil {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return err
}

const joinVariable = "FIRN_BENCH_CGROUP"

// Join moves this process into the group that its environment names, if any.
func Join() error {
	dir := os.Getenv(joinVariable)
	if dir == "" {
		return nil
	}
	return os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte("0"), 0o644)
}
