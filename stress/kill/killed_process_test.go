package kill

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/stress/internal/bounds"
)

// Row 1 on a real file system: a process that kills itself before one change of
// the files or another, while it opens them, uses them and closes them.
func TestFault01Process(t *testing.T) {
	p := &soakParent{}
	rng := bounds.Random(t)
	setting := plainSetting(filepath.Join(t.TempDir(), "cache"))
	opens, uses, closes := bounds.Of(6, 32), bounds.Of(3, 12), bounds.Of(6, 32)
	p.live(t, setting, p.forWrites(manyWrites), false)
	for range opens { // the first changes are those of Open
		setting.Seed = rng.Uint64()
		setting.KillAt, setting.Closing = 1+rng.IntN(20), false
		p.live(t, setting, p.forWrites(100), false)
	}
	for range uses {
		setting.Seed = rng.Uint64()
		setting.KillAt, setting.Closing = 20+rng.IntN(5000), false
		p.live(t, setting, p.forWrites(5000), false)
	}
	for range closes {
		setting.KillAt, setting.Closing = 1+rng.IntN(30), true
		p.live(t, setting, p.forWrites(50), false)
	}
	found := p.found(t, plainSetting(setting.Dir))
	t.Logf("%d lives, %d killed; %d writes acknowledged, %d values kept over restarts, %d at the end", p.lives, p.killed, p.acks.Load(), p.kept, found)
	if p.killed == 0 || p.kept == 0 || p.acks.Load() == 0 {
		t.Error("too little happened")
	}
}

func numbered(i int) (key, value []byte) {
	return fmt.Appendf(nil, "key-%06d", i), fmt.Appendf(nil, "value of %d, %0300d", i, i)
}

// mounted is a file system of its own, which takes the right to mount one.
type mounted string

func mount(t *testing.T, options string) mounted {
	t.Helper()
	m := mounted(t.TempDir())
	if err := m.mount(options); err != nil {
		t.Skipf("no file system can be mounted here: %v", err)
	}
	t.Cleanup(func() { m.unmount(t) })
	return m
}

func (m mounted) mount(options string) error {
	out, err := exec.Command("mount", "-t", "tmpfs", "-o", options+",mode=0700", "tmpfs", string(m)).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, bytes.TrimSpace(out))
	}
	return nil
}

// remount changes the options. The system may take a moment to let go of the
// files of a process that was killed.
func (m mounted) remount(t *testing.T, options string) {
	t.Helper()
	var err error
	for over := time.Now().Add(5 * time.Minute); time.Now().Before(over); time.Sleep(10 * time.Millisecond) {
		if err = m.mount("remount," + options); err == nil {
			return
		}
	}
	t.Fatal(err)
}

// unmount takes it away, also if files of it are open.
func (m mounted) unmount(t *testing.T) {
	t.Helper()
	if out, err := exec.Command("umount", "-l", string(m)).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// fill takes what space there is, until the file is removed.
func (m mounted) fill(t *testing.T) (file string) {
	t.Helper()
	file = filepath.Join(string(m), "ballast")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for b := make([]byte, 64<<10); ; {
		if _, err := f.Write(b); err != nil {
			if len(b) == 1 {
				return file
			}
			b = b[:1]
		}
	}
}

// Row 10 on a file system that is really full. It takes the right to mount one.
func TestFault10Mounted(t *testing.T) {
	m := mount(t, "size=4m")
	setting := plainSetting(string(m))
	c, err := firn.Open(setting.options())
	if err != nil {
		t.Fatal(err)
	}
	if c.Stats().SSD.Online {
		t.Fatal("on, without space")
	}
	for i := range 5000 {
		key, value := numbered(i)
		if err := c.Set(key, value); err != nil {
			t.Fatal(err)
		}
		if v, ok := c.Get(nil, key); !ok || string(v) != string(value) {
			t.Fatalf("%s: %q, %v", key, v, ok)
		}
	}
	m.remount(t, "size=16m")
	for !c.Stats().SSD.Online { // it tries again by itself
		time.Sleep(10 * time.Millisecond)
	}
	for i := range 5000 {
		key, value := numbered(i)
		if err := c.Set(key, value); err != nil {
			t.Fatal(err)
		}
	}
	if s := c.Stats(); s.SSD.Demotions == 0 {
		t.Fatalf("%+v", s)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	c, err = firn.Open(setting.options())
	if err != nil {
		t.Fatal(err)
	}
	if c.Len() == 0 {
		t.Error("nothing is kept")
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
}

// Row 10 with processes that are killed while the file system is full: without
// the log's space, without space for more of it, and without space for a
// snapshot.
func TestFault10Process(t *testing.T) {
	m := mount(t, "size=4m")
	p := &soakParent{}
	plain := plainSetting(filepath.Join(string(m), "cache"))
	more := plain
	more.SSDBytes += soakSSD / 2
	life := func(s soakSetting, kill bool) { p.live(t, s, p.forWrites(manyWrites), kill) }

	life(plain, true) // no space to begin with
	if p.acks.Load() == 0 || p.kept != 0 {
		t.Fatalf("%d writes acknowledged, %d values kept: want RAM to serve alone", p.acks.Load(), p.kept)
	}
	m.remount(t, "size=16m")
	life(plain, true)
	kept := func(want bool) {
		t.Helper()
		before := p.kept
		life(plain, true)
		if got := p.kept - before; got > 0 != want {
			t.Fatalf("%d values kept", got)
		}
	}
	kept(true)

	ballast := m.fill(t) // what the log has it keeps
	kept(true)
	life(plain, false) // no space for a snapshot
	kept(true)
	life(more, true) // the log cannot grow: what it holds is void
	kept(false)

	life(more, true) // off again, and all is overwritten in RAM
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	kept(false)
	kept(true)
	p.found(t, plain)
}

// Row 15: the file system became read-only while no process had it open.
func TestFault15ReadOnly(t *testing.T) {
	m := mount(t, "size=16m")
	p := &soakParent{}
	setting := plainSetting(filepath.Join(string(m), "cache"))
	p.live(t, setting, p.forWrites(manyWrites), true)
	m.remount(t, "ro")
	if _, err := firn.Open(setting.options()); err == nil || !strings.Contains(err.Error(), setting.Dir) || !strings.Contains(err.Error(), "read-only") {
		t.Fatalf("Open: %v: want an error that names the directory, and says why", err)
	}
	m.remount(t, "rw")
	if n := p.found(t, setting); n == 0 {
		t.Error("nothing is kept")
	}
}

// Row 15: the file system is taken away while a process uses it, which is killed
// then. It serves on meanwhile, and what takes the directory's place is empty.
func TestFault15Unmounted(t *testing.T) {
	m := mount(t, "size=16m")
	gone(t, filepath.Join(string(m), "cache"), func() { m.unmount(t) })
	if err := m.mount("size=16m"); err != nil { // for the cleanup to take away
		t.Fatal(err)
	}
}

// Row 15: the directory is removed while a process uses it, which is killed then.
func TestFault15RemovedProcess(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	gone(t, dir, func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Skipf("this system does not remove files that are open: %v", err)
		}
	})
}

// gone runs a process with a directory that is taken away, and what comes after
// it.
func gone(t *testing.T, dir string, take func()) {
	t.Helper()
	p := &soakParent{}
	setting := plainSetting(dir)
	s := p.start(t, setting)
	s.serving(t)
	take()
	for over := p.forWrites(manyWrites); !over() && !s.isOver(); { // it goes on: otherwise it ends, with another status
		time.Sleep(time.Millisecond)
	}
	p.kill(t, s)
	if n := p.found(t, setting); n != 0 {
		t.Fatalf("%d values of files that are gone", n)
	}
	children.removeSegments() // nothing leads there any more
}

// serving returns when a life does.
func (s *soakProcess) serving(t *testing.T) {
	t.Helper()
	select {
	case <-s.ready:
	case <-s.ended:
		t.Fatalf("the process died: %s", s.stderr.String())
	}
}

// kill ends a life.
func (p *soakParent) kill(t *testing.T, s *soakProcess) {
	t.Helper()
	_ = s.cmd.Process.Kill()
	p.end(t, s, true)
	if p.killed == 0 {
		t.Fatal("it had ended before it was killed")
	}
}

// Row 15: without the right to write into the directory.
func TestFault15NoRight(t *testing.T) {
	dir := t.TempDir()
	setting := plainSetting(dir)
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.Chmod(dir, 0o700) }()
	asNobody(t, func() {
		if _, err := firn.Open(setting.options()); !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), dir) {
			t.Errorf("Open: %v: want ErrPermission that names the directory", err)
		}
	})
}

// Row 18: the directory is another process's until that dies.
func TestFault18Process(t *testing.T) {
	p, other := &soakParent{}, &soakParent{}
	setting := plainSetting(filepath.Join(t.TempDir(), "cache"))
	s := p.start(t, setting)
	s.serving(t)
	if _, err := firn.Open(setting.options()); !errors.Is(err, firn.ErrLocked) {
		t.Fatalf("Open: %v, want ErrLocked", err)
	}
	second := other.start(t, setting)
	<-second.ended
	var exit *exec.ExitError
	if err := second.cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 3 || !strings.Contains(second.stderr.String(), firn.ErrLocked.Error()) {
		t.Fatalf("a second process: %v: %s; want ErrLocked", err, second.stderr.String())
	}
	p.kill(t, s)
	p.found(t, setting)
}
