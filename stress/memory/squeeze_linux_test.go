package memory

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/memory"
	"github.com/firncache/firn/stress/internal/bounds"
)

const (
	mib          = 1 << 20
	squeezeLimit = 384 * mib // of the group
	squeezeBytes = 256 * mib // the cache's at most
	squeezeKeys  = 200_000   // of 1,000 bytes, which fit
	chunk        = 4 * mib   // what the neighbor takes at a time
	transit      = 16 * mib  // what may be unmapped and not free yet: the system frees pages in batches
	squeezeRole  = "FIRN_SQUEEZE"
)

func TestMain(m *testing.M) {
	switch role, dir, _ := strings.Cut(os.Getenv(squeezeRole), ":"); role {
	case "cache":
		squeezed(dir)
	case "neighbor":
		neighbor(dir)
	default:
		os.Exit(m.Run())
	}
}

// enter puts the process into a group.
func enter(dir string) {
	if err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(os.Getpid())), 0); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// squeezed is the process of the cache: it reads, loads what is missing, and answers each
// line of its input with the share of hits since the line before.
func squeezed(dir string) {
	enter(dir)
	memory.Process.Calm = 2 * time.Second
	c, err := firn.Open(firn.Options{RAMBytes: squeezeBytes, LeastRAMBytes: squeezeBytes / 16, WhatIf: firn.WhatIfOff})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	asked := make(chan struct{})
	go func() {
		for in := bufio.NewScanner(os.Stdin); in.Scan(); {
			asked <- struct{}{}
		}
		os.Exit(0)
	}()
	var key [8]byte
	value, hits, reads := make([]byte, 1000), 0, 0
	for dst := []byte(nil); ; reads++ {
		select {
		case <-asked:
			fmt.Println(float64(hits)/float64(reads), c.Stats().RAM.Bytes)
			hits, reads = 0, 0
		default:
		}
		binary.LittleEndian.PutUint64(key[:], rand.Uint64N(squeezeKeys))
		var ok bool
		if dst, ok = c.Get(dst[:0], key[:]); ok {
			hits++
		} else if err := c.Set(key[:], value); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
}

// neighbor takes a chunk for each line of its input that says so, and otherwise gives all
// back; it answers each.
func neighbor(dir string) {
	enter(dir)
	var taken [][]byte
	for in := bufio.NewScanner(os.Stdin); in.Scan(); fmt.Println("done") {
		if in.Text() == "take" {
			b, err := unix.Mmap(-1, 0, chunk, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_POPULATE)
			if err != nil {
				fmt.Println(err)
			}
			taken = append(taken, b)
			continue
		}
		for _, b := range taken {
			_ = unix.Munmap(b)
		}
		taken = nil
	}
}

// process is a child in the group that answers line by line.
type process struct {
	in  io.Writer
	out *bufio.Scanner
}

func start(ctx context.Context, t *testing.T, role, dir string) *process {
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), squeezeRole+"="+role+":"+dir)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close(); _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return &process{in, bufio.NewScanner(out)}
}

func (p *process) ask(t *testing.T, line string) string {
	t.Helper()
	if _, err := fmt.Fprintln(p.in, line); err != nil || !p.out.Scan() {
		t.Fatalf("%s: the process has ended: %v, %v", line, err, p.out.Err())
	}
	return p.out.Text()
}

// hits is the cache's hit ratio since the last call, and its budget.
func (p *process) hits(t *testing.T) (ratio float64, budget int64) {
	t.Helper()
	answer := p.ask(t, "hits")
	if _, err := fmt.Sscan(answer, &ratio, &budget); err != nil {
		t.Fatalf("%q: %v", answer, err)
	}
	return ratio, budget
}

// newGroup makes a memory cgroup below the test's own, of version 1 or 2.
func newGroup(t *testing.T) (dir string) {
	own, _ := os.ReadFile("/proc/self/cgroup")
	for line := range strings.Lines(string(own)) {
		part := strings.SplitN(strings.TrimSpace(line), ":", 3)
		switch {
		case part[1] == "memory":
			dir = "/sys/fs/cgroup/memory" + part[2]
		case part[0] == "0" && dir == "":
			dir = "/sys/fs/cgroup" + part[2]
		}
	}
	dir = filepath.Join(dir, fmt.Sprint("firn-squeeze-", os.Getpid()))
	limit := []byte(strconv.Itoa(squeezeLimit))
	err := os.Mkdir(dir, 0o755)
	if err == nil {
		t.Cleanup(func() {
			if err := os.Remove(dir); err != nil {
				t.Log(err)
			}
		})
		if err = os.WriteFile(filepath.Join(dir, "memory.limit_in_bytes"), limit, 0); err != nil {
			err = os.WriteFile(filepath.Join(dir, "memory.max"), limit, 0)
		}
	}
	if err != nil {
		t.Skip("no memory cgroup can be made: ", err)
	}
	return dir
}

// used is the memory that the group's processes have mapped.
func used(t *testing.T, dir string) (n int64) {
	stat, err := os.ReadFile(filepath.Join(dir, "memory.stat"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(stat)) {
		if f := strings.Fields(line); f[0] == "rss" || f[0] == "anon" || f[0] == "shmem" {
			pages, _ := strconv.ParseInt(f[1], 10, 64)
			n += pages
		}
	}
	return n
}

// kills is how many processes of the group the system has killed for memory.
func kills(t *testing.T, dir string) string {
	for _, name := range []string{"memory.oom_control", "memory.events"} {
		content, _ := os.ReadFile(filepath.Join(dir, name))
		for line := range bytes.Lines(content) {
			if n, ok := bytes.CutPrefix(line, []byte("oom_kill ")); ok {
				return string(bytes.TrimSpace(n))
			}
		}
	}
	t.Fatal("the group does not count kills")
	return ""
}

// TestSqueezes has a neighbor in the cache's cgroup take memory until the cache is at its
// least, and give it back: each time the cache gives way, nobody is killed, and hits come back.
func TestSqueezes(t *testing.T) {
	dir := newGroup(t)
	squeezes := 2
	if bounds.Long() {
		squeezes = 100
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(squeezes)*2*time.Minute)
	defer cancel()
	cache, beside := start(ctx, t, "cache", dir), start(ctx, t, "neighbor", dir)
	free := func() int64 { return squeezeLimit - used(t, dir) }
	until := func(what string, done func() bool) {
		t.Helper()
		for !done() {
			if ctx.Err() != nil {
				ratio, budget := cache.hits(t)
				t.Fatalf("%s: never: %d bytes free, budget %d, hits %.3f", what, free(), budget, ratio)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	warm := func() bool {
		ratio, budget := cache.hits(t)
		return ratio > .99 && budget > squeezeKeys*1060
	}
	until("warm", warm)
	for range squeezes {
		least := false
		for !least {
			until("room for a chunk", func() bool {
				_, budget := cache.hits(t)
				least = budget == squeezeBytes/16
				return least || free() > chunk+transit
			})
			if !least {
				beside.ask(t, "take")
			}
		}
		beside.ask(t, "give")
		until("warm again", warm)
	}
	if n := kills(t, dir); n != "0" {
		t.Errorf("%s processes were killed for memory", n)
	}
}
