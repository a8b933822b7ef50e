package kill

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/firncache/firn"
)

// What a killed process had cleared stays cleared, and what it had written to
// the SSD since is found.
func TestTypedSurvivesKill(t *testing.T) {
	const child = "FIRN_TYPED_CHILD"
	dir := os.Getenv(child)
	if dir == "" {
		dir = t.TempDir()
		cmd := exec.Command(os.Args[0], "-test.run=^TestTypedSurvivesKill$")
		cmd.Env = append(os.Environ(), child+"="+dir)
		out, err := cmd.CombinedOutput()
		children.add(cmd.Process.Pid)
		if err == nil || cmd.ProcessState.ExitCode() > 0 {
			t.Fatalf("the child was not killed: %v\n%s", err, out)
		}
	}
	c, err := firn.Open(firn.Options{RAMBytes: 1 << 20, SSD: firn.SSDOptions{Dir: dir, Bytes: 64 << 20, Admission: firn.AdmitAll}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close() // before the directory goes
	users, err := firn.NewTyped(c, "n", firn.TypedOptions[string, []byte]{})
	if err != nil {
		t.Fatal(err)
	}
	const n = 4000
	keys := func(life string) (found int) {
		for i := range n {
			if _, ok := users.Get(fmt.Sprint(life, i)); ok {
				found++
			}
		}
		return found
	}
	if os.Getenv(child) == "" {
		if old := keys("old"); old != 0 {
			t.Errorf("%d values that were cleared are back", old)
		}
		if since := keys("new"); since < n/10 {
			t.Errorf("%d of %d values set since are found, want those on the SSD: %+v", since, n, c.Stats())
		}
		return
	}
	for _, life := range []string{"old", "new"} {
		if err := users.Clear(); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if err := users.Set(fmt.Sprint(life, i), make([]byte, 2000)); err != nil {
				t.Fatal(err)
			}
		}
		if keys(life) < n/10 {
			t.Fatal("nothing is found while the process lives")
		}
	}
	killSelf()
}
