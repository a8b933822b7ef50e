package vfs_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"

	"github.com/firncache/firn/internal/vfs"
)

// memoryEnv tells the test binary to be the child of these tests.
const memoryEnv = "FIRN_TEST_MEMORY_DIR"

const keptSize = 3<<20 + 77

// keepMemory makes memory, fills it, says what its ID is, and has it until standard
// input ends.
func keepMemory(dir string) {
	err := func() error {
		fsys, err := vfs.OS(dir)
		if err != nil {
			return err
		}
		keeper, _ := fsys.(vfs.MemoryKeeper)
		m, err := keeper.NewMemory(keptSize)
		if err != nil {
			return err
		}
		copy(m.Bytes(), pattern(keptSize))
		fmt.Println(m.ID().Handle, m.ID().Key)
		return nil
	}()
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

// keepingChild is a process that has memory.
type keepingChild struct {
	cmd *exec.Cmd
	id  vfs.MemoryID
}

func startKeeping(t *testing.T, dir string) *keepingChild {
	t.Helper()
	c := &keepingChild{cmd: exec.Command(os.Args[0])}
	c.cmd.Env = append(os.Environ(), memoryEnv+"="+dir)
	stdin, err := c.cmd.StdinPipe()
	must(t, err)
	stdout, err := c.cmd.StdoutPipe()
	must(t, err)
	must(t, c.cmd.Start())
	t.Cleanup(func() {
		_ = stdin.Close()
		c.kill()
	})
	said, err := bufio.NewReader(stdout).ReadString('\n')
	if _, scanErr := fmt.Sscan(said, &c.id.Handle, &c.id.Key); scanErr != nil {
		t.Fatalf("the child said %q, %v", said, err)
	}
	return c
}

// kill ends the process as kill -9 does, and waits for that.
func (c *keepingChild) kill() {
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()
}

func TestMemoryOfKilledProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fsys, err := vfs.OS(dir)
	must(t, err)
	keeper := keeperOf(t, fsys)
	child := startKeeping(t, dir)
	_, err = keeper.OpenMemory(child.id)
	wantErr(t, err, vfs.ErrLocked)
	child.kill()

	for range 2 { // the next process may be killed, too
		m := openMemory(t, keeper, child.id)
		if !bytes.Equal(m.Bytes(), pattern(keptSize)) {
			t.Errorf("%d bytes, want the %d that the child wrote", len(m.Bytes()), keptSize)
		}
		must(t, m.Close())
	}
	m := openMemory(t, keeper, child.id)
	must(t, m.Remove())
	must(t, m.Close())
	if left := memoryOf(child.cmd.Process.Pid); len(left) > 0 {
		t.Errorf("the child's memory is still there after Remove: %q", left)
	}
}

// What a process left that nobody knows the ID of goes when the directory's next
// memory is made; what another process has open stays.
// Not parallel: other tests would have the memory attached for a moment, or make a
// directory with the same inode.
func TestMemoryOfUnknownID(t *testing.T) {
	dir := t.TempDir()
	fsys, err := vfs.OS(dir)
	must(t, err)
	keeper := keeperOf(t, fsys)
	child := startKeeping(t, dir)
	newMemory(t, keeper, 10)
	pid := child.cmd.Process.Pid
	if left := memoryOf(pid); len(left) != 1 {
		t.Errorf("the child has the memory %q, which it has open, after the directory got other", left)
	}
	child.kill()
	newMemory(t, keeper, 10)
	if left := memoryOf(pid); len(left) > 0 {
		t.Errorf("the killed child's memory is still there: %q", left)
	}
}
