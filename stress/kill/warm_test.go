package kill

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/cachetest"
	"github.com/firncache/firn/stress/internal/bounds"
)

const warmVar = "FIRN_WARM_LIFE" // the child's setting

// warmLife is a process that sets every key once, then sets keys chosen uniformly,
// so many times for each, and is killed.
type warmLife struct {
	Dir     string
	Keys    int
	Updates int
	Seed    uint64
}

// warmEnd is what it tells before it is killed.
type warmEnd struct {
	Records int64 // that lie below RAM
	Kept    bool
	Memory  int64 // what the SSD tier takes
}

func (l *warmLife) options() firn.Options {
	data := int64(l.Keys) * 400
	return firn.Options{RAMBytes: max(data/8, 1<<20), SSD: firn.SSDOptions{Dir: l.Dir, Bytes: max(4*data, 8<<20), Admission: firn.AdmitAll}}
}

func warmKey(i int) []byte { return fmt.Appendf(nil, "key-%09d", i) }

// writes calls f for every write, in their order, which is the same each time.
func (l *warmLife) writes(f func(key int, seq uint64)) {
	rng := rand.New(rand.NewPCG(l.Seed, 11))
	for i := range l.Keys {
		f(i, uint64(i)+1)
	}
	for n := range l.Keys * l.Updates {
		f(rng.IntN(l.Keys), uint64(l.Keys+n)+1)
	}
}

// warmChild does not return if all goes well.
func warmChild(life string) error {
	var l warmLife
	if err := json.Unmarshal([]byte(life), &l); err != nil {
		return err
	}
	c, err := firn.Open(l.options())
	if err != nil {
		return err
	}
	var buf []byte
	var failed error
	l.writes(func(i int, seq uint64) {
		key := warmKey(i)
		buf = cachetest.AppendValue(buf[:0], key, seq, 256)
		if err := c.Set(key, buf); err != nil {
			failed = err
		}
	})
	if failed != nil {
		return failed
	}
	st := c.Stats()
	if err := json.NewEncoder(os.Stdout).Encode(warmEnd{st.SSD.Entries, st.SSD.Kept, st.SSD.MemoryBytes}); err != nil {
		return err
	}
	killSelf()
	return nil
}

// Row 1: what had been written to the disk when the process was killed is found at
// once, and exactly it: of each key the last value that was set, or nothing. What
// had not been written are two segments at most.
func TestWarmAfterKill(t *testing.T) {
	for _, updates := range []int{0, 1, 10} {
		t.Run(fmt.Sprint(updates), func(t *testing.T) {
			l := &warmLife{Dir: filepath.Join(t.TempDir(), "cache"), Keys: bounds.Of(50_000, 2_000_000), Updates: updates, Seed: bounds.Random(t).Uint64()}
			end := l.run(t)
			began := time.Now()
			c, err := firn.Open(l.options())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			opened := time.Since(began)
			last := make([]uint64, l.Keys)
			l.writes(func(i int, seq uint64) { last[i] = seq })
			found := int64(0)
			for i, want := range last {
				key := warmKey(i)
				v, ok := c.Get(nil, key)
				if !ok {
					continue
				}
				found++
				if seq, err := cachetest.Sequence(key, v); err != nil || seq != want {
					t.Fatalf("%s: write %d, %v: want %d, or nothing", key, seq, err, want)
				}
			}
			st := c.Stats()
			share := float64(found) / float64(end.Records)
			t.Logf("%d keys, %d updates of each: %d records on the disk, %d found (%.2f %%), Open took %v; the tier took %.1f MiB of RAM",
				l.Keys, updates, end.Records, found, 100*share, opened.Round(time.Microsecond), float64(end.Memory)/(1<<20))
			switch {
			case !end.Kept:
				t.Log("this system keeps no memory for a process that was killed")
				if found != 0 {
					t.Errorf("%d values are found all the same", found)
				}
			case share < .95:
				t.Errorf("want 95 %% at least: %+v", st)
			case st.SSD.Corrupt != 0 || st.SSD.ReadErrors != 0:
				t.Errorf("%d records are corrupt, %d reads failed", st.SSD.Corrupt, st.SSD.ReadErrors)
			}
		})
	}
}

// run runs the process to its death.
func (l *warmLife) run(t *testing.T) (end warmEnd) {
	t.Helper()
	life, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), warmVar+"="+string(life))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	children.add(cmd.Process.Pid)
	if err == nil || cmd.ProcessState.ExitCode() >= 0 {
		t.Fatalf("it was not killed: %v", err)
	}
	if err := json.Unmarshal(out, &end); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return end
}
