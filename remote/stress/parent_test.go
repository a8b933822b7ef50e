//go:build linux

package stress

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/firncache/firn/remote/internal/faultproxy"
)

// child is one of the processes, as their parent sees it.
type child struct {
	setting setting
	proxy   *faultproxy.Proxy
	cmd     *exec.Cmd
	in      io.WriteCloser
	stderr  bytes.Buffer
	ended   chan struct{} // closed when all that it told has been taken in
	alive   bool

	told    *told
	records []record
	figures [16]int64
	earlier [16]int64 // of the processes before this one
	dones   int
	exited  bool
}

// told guards what all children have told.
type told struct {
	sync.Mutex
	more   *sync.Cond // a command is done, a process has ended, or reads are what is awaited
	reads  int64
	awaits int64
}

func newTold() *told {
	t := &told{}
	t.more = sync.NewCond(t)
	return t
}

// patience is a watchdog: only a hang reaches it.
const patience = 3 * time.Minute

func newChild(t *testing.T, told *told, p uint8, server, dir string, bound, timeout time.Duration) *child {
	t.Helper()
	proxy, err := faultproxy.New(server)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	c := &child{told: told, proxy: proxy, setting: setting{Process: p, Addr: proxy.Addr(), Source: filepath.Join(dir, "source"), Staleness: bound, Timeout: timeout}}
	if p > 0 {
		c.setting.Dir = filepath.Join(dir, fmt.Sprint("cache-", p))
	}
	t.Cleanup(func() { c.kill() })
	c.start(t)
	return c
}

// start starts the process, and returns when its cache is open.
func (c *child) start(t *testing.T) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(c.setting)
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c.cmd = exec.Command(self)
	c.cmd.Env = append(os.Environ(), settingVar+"="+string(text))
	c.cmd.ExtraFiles, c.cmd.Stderr = []*os.File{w}, &c.stderr
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	c.alive, c.exited, c.ended = true, false, make(chan struct{})
	go func() {
		defer close(c.ended)
		c.follow(r)
	}()
	c.awaitDone(t)
}

// follow takes in what the process tells until it ends.
func (c *child) follow(r *os.File) {
	defer r.Close()
	in := bufio.NewReaderSize(r, 256<<10)
	for b := make([]byte, recordLen); ; {
		_, err := io.ReadFull(in, b)
		c.told.Lock()
		if err != nil {
			c.exited = true
			c.told.more.Broadcast()
			c.told.Unlock()
			return
		}
		c.take(parseRecord(b))
		c.told.Unlock()
	}
}

func (c *child) take(r record) {
	switch r.Kind {
	case kindDone:
		c.dones++
		c.told.more.Broadcast()
	case kindFigure:
		c.figures[r.Key] = r.Value
	case kindRead:
		if c.told.reads++; c.told.reads == c.told.awaits {
			c.told.more.Broadcast()
		}
		fallthrough
	default:
		c.records = append(c.records, r)
	}
}

// awaitDone waits until the process has done what it was told.
func (c *child) awaitDone(t *testing.T) {
	t.Helper()
	watchdog := time.AfterFunc(patience, func() { _ = c.cmd.Process.Kill() })
	defer watchdog.Stop()
	c.told.Lock()
	for c.dones == 0 && !c.exited {
		c.told.more.Wait()
	}
	c.dones--
	exited := c.dones < 0
	c.told.Unlock()
	if exited {
		<-c.ended
		err := c.cmd.Wait()
		c.alive = false
		t.Fatalf("process %d ended: %v\n%s", c.setting.Process, err, c.stderr.Bytes())
	}
}

// tell gives a command.
func (c *child) tell(t *testing.T, cmd command) {
	t.Helper()
	b, err := json.Marshal(cmd)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.in.Write(append(b, '\n')); err != nil {
		<-c.ended
		t.Fatalf("process %d: %v\n%s", c.setting.Process, err, c.stderr.Bytes())
	}
}

// kill is kill -9.
func (c *child) kill() {
	if !c.alive {
		return
	}
	_ = c.cmd.Process.Kill()
	<-c.ended
	_ = c.in.Close()
	_ = c.cmd.Wait()
	c.alive = false
	for i, n := range c.figures {
		c.earlier[i] += n
	}
	clear(c.figures[:])
}

func (c *child) signal(t *testing.T, s os.Signal) {
	t.Helper()
	if err := c.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// end has the process close its cache.
func (c *child) end(t *testing.T) {
	t.Helper()
	_ = c.in.Close()
	watchdog := time.AfterFunc(patience, func() { _ = c.cmd.Process.Kill() })
	defer watchdog.Stop()
	<-c.ended
	if err := c.cmd.Wait(); err != nil {
		t.Errorf("process %d: %v\n%s", c.setting.Process, err, c.stderr.Bytes())
	}
	c.alive = false
}

// taken are the records since the last time.
func (c *child) taken() []record {
	c.told.Lock()
	defer c.told.Unlock()
	r := c.records
	c.records = nil
	return r
}

// await waits until the children have told of so many reads more.
func (t *told) await(test *testing.T, reads int64) {
	test.Helper()
	late := false
	watchdog := time.AfterFunc(patience, func() { t.Lock(); late = true; t.more.Broadcast(); t.Unlock() })
	defer watchdog.Stop()
	t.Lock()
	defer t.Unlock()
	for t.awaits = t.reads + reads; t.reads < t.awaits; t.more.Wait() {
		if late {
			test.Fatalf("%d reads more than %d are awaited for %v", t.awaits-t.reads, t.reads, patience)
		}
	}
}
