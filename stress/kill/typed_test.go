package kill

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/firncache/firn"
)

// What a killed process had cleared stays cleared, also at the last moment, and what it
// had written to the SSD since, or in another namespace, is found.
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
	namespace := func(name string) *firn.Typed[string, []byte] {
		typed, err := firn.NewTyped(c, name, firn.TypedOptions[string, []byte]{})
		if err != nil {
			t.Fatal(err)
		}
		return typed
	}
	users, kept, late := namespace("n"), namespace("kept"), namespace("late")
	const n = 4000
	count := func(typed *firn.Typed[string, []byte], life string) (found int) {
		for i := range n {
			if _, ok := typed.Get(fmt.Sprint(life, i)); ok {
				found++
			}
		}
		return found
	}
	keys := func(life string) int { return count(users, life) }
	fill := func(typed *firn.Typed[string, []byte], life string) {
		for i := range n {
			if err := typed.Set(fmt.Sprint(life, i), make([]byte, 2000)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if os.Getenv(child) == "" {
		if old := keys("old"); old != 0 {
			t.Errorf("%d values that were cleared are back", old)
		}
		if since := keys("new"); since < n/10 {
			t.Errorf("%d of %d values set since are found, want those on the SSD: %+v", since, n, c.Stats())
		}
		if old := count(late, "late"); old != 0 {
			t.Errorf("%d values that were cleared at the last moment are back", old)
		}
		if old := count(kept, "kept"); old < n*9/10 {
			t.Errorf("%d of %d values of another namespace are found, want those on the SSD", old, n)
		}
		return
	}
	fill(kept, "kept")
	fill(late, "late")
	for _, life := range []string{"old", "new"} {
		if err := users.Clear(t.Context()); err != nil {
			t.Fatal(err)
		}
		fill(users, life)
		if keys(life) < n/10 {
			t.Fatal("nothing is found while the process lives")
		}
	}
	if count(late, "late") < n*9/10 {
		t.Fatal("nothing of what is to be cleared is found")
	}
	if err := late.Clear(t.Context()); err != nil {
		t.Fatal(err)
	}
	killSelf()
}
