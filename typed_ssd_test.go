package firn_test

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/firncache/firn"
)

// Typed values come back with the SSD tier, and cleared ones do not.
func TestTypedSurvivesClose(t *testing.T) {
	opts := firn.Options{RAMBytes: 1 << 20, SSD: firn.SSDOptions{Dir: t.TempDir(), Bytes: 64 << 20}}
	typedOpts := firn.TypedOptions[int, user]{Namespace: "users"}
	const n = 100
	run := func(use func(c *firn.Cache, users *firn.Typed[int, user])) {
		t.Helper()
		c, err := firn.Open(opts)
		if err != nil {
			t.Fatal(err)
		}
		use(c, newTyped(t, c, typedOpts))
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	count := func(users *firn.Typed[int, user]) (found int) {
		for i := range n {
			if u, ok := users.Get(i); ok {
				if u.ID != userID(i) {
					t.Errorf("user %d is %+v", i, u)
				}
				found++
			}
		}
		return found
	}
	run(func(_ *firn.Cache, users *firn.Typed[int, user]) {
		for i := range n {
			users.Set(i, user{ID: userID(i)})
		}
		if got := count(users); got != n {
			t.Errorf("%d of %d users before Close", got, n)
		}
	})
	run(func(c *firn.Cache, users *firn.Typed[int, user]) {
		if got := count(users); got != n {
			t.Errorf("%d of %d users after Close and Open: %+v", got, n, c.Stats())
		}
		users.Clear()
		users.Set(0, user{ID: 0})
		users.Get(0)
	})
	run(func(_ *firn.Cache, users *firn.Typed[int, user]) {
		if got := count(users); got != 1 {
			t.Errorf("%d users after Clear, Close and Open, want the one set since", got)
		}
	})
}

// What a killed process had cleared stays cleared, and what it had written to
// the SSD since is found.
func TestTypedSurvivesKill(t *testing.T) {
	const child = "FIRN_TYPED_CHILD"
	dir := os.Getenv(child)
	if dir == "" {
		dir = t.TempDir()
		cmd := exec.Command(os.Args[0], "-test.run=^TestTypedSurvivesKill$")
		cmd.Env = append(os.Environ(), child+"="+dir)
		if out, err := cmd.CombinedOutput(); err == nil || cmd.ProcessState.ExitCode() > 0 {
			t.Fatalf("the child was not killed: %v\n%s", err, out)
		}
	}
	c := hybrid(t, dir)
	users := newTyped(t, c, firn.TypedOptions[string, []byte]{Namespace: "n"})
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
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	self.Kill()
	select {}
}
