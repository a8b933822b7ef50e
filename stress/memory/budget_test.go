package memory

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/invariants"
	"github.com/firncache/firn/internal/offheap"
	"github.com/firncache/firn/stress/internal/bounds"
	"github.com/firncache/firn/stress/internal/resident"
)

// loads are what a budget must hold under. Each gets a key and value to use
// again, and the number of bytes that it should write at least.
var loads = map[string]func(c *firn.Cache, value []byte, bytes int64) error{
	"4-byte values": func(c *firn.Cache, value []byte, bytes int64) error {
		return sets(c, value, bytes/24, func(uint64) int { return 4 }, firn.Forever)
	},
	"4 MiB values": func(c *firn.Cache, value []byte, bytes int64) error {
		return sets(c, value, bytes>>22, func(uint64) int { return 4 << 20 }, firn.Forever)
	},
	"mixed values": func(c *firn.Cache, value []byte, bytes int64) error {
		return sets(c, value, bytes/9000, func(i uint64) int {
			return []int{0, 4, 100, 1000, 5000, 300, 66_000, 30}[i%8]
		}, firn.Forever)
	},
	"one key overwritten": func(c *firn.Cache, value []byte, _ int64) error {
		n := 10_000_000
		if !bounds.Long() {
			n = 300_000
		}
		key := []byte("one key")
		for i := range n {
			if err := c.Set(key, value[:i%100]); err != nil {
				return err
			}
		}
		return nil
	},
	"expiry only": func(c *firn.Cache, value []byte, bytes int64) error {
		for range 4 {
			if err := sets(c, value, bytes/4/200, func(i uint64) int { return int(i % 300) }, time.Millisecond); err != nil {
				return err
			}
		}
		return nil
	},
}

func sets(c *firn.Cache, value []byte, n int64, size func(i uint64) int, ttl time.Duration) error {
	key := make([]byte, 8)
	for i := range uint64(n) {
		binary.LittleEndian.PutUint64(key, i*0x9e3779b97f4a7c15)
		if err := c.SetWithTTL(key, value[:size(i)], ttl); err != nil {
			return err
		}
	}
	return nil
}

// budgetVar tells a child process which load to run: its name, and the budget.
const budgetVar = "FIRN_BUDGET"

// Resident memory stays under the budget, 2 % and 8 MiB, whatever is stored.
// Each load runs in a process of its own, this test once more.
func TestBudget(t *testing.T) {
	if job := os.Getenv(budgetVar); job != "" {
		name, bytes, _ := strings.Cut(job, ":")
		n, err := strconv.ParseInt(bytes, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		runBudget(t, name, n)
		return
	}
	for _, mib := range bounds.Of([]int64{64}, []int64{64, 256}) {
		for name := range loads {
			t.Run(fmt.Sprintf("%s/%d MiB", name, mib), func(t *testing.T) { inChild(t, budgetVar, fmt.Sprintf("%s:%d", name, mib<<20)) })
		}
	}
}

// inChild runs the test's outermost function again in a process of its own.
func inChild(t *testing.T, variable, value string) {
	t.Helper()
	top, _, _ := strings.Cut(t.Name(), "/")
	cmd := exec.Command(os.Args[0], "-test.run=^"+top+"$", "-test.v", fmt.Sprintf("-long=%v", bounds.Long()))
	cmd.Env = append(os.Environ(), variable+"="+value)
	out, err := cmd.CombinedOutput()
	for line := range strings.Lines(string(out)) {
		if err != nil || strings.Contains(line, "MiB") {
			t.Log(strings.TrimSpace(line))
		}
	}
	if err != nil {
		t.Error(err)
	}
}

func runBudget(t *testing.T, name string, bytes int64) {
	debug.SetGCPercent(10)
	value := make([]byte, 4<<20)
	for i := range value {
		value[i] = byte(i)
	}
	if bytes/4 < int64(len(value))+8 {
		t.Fatalf("%d bytes: a value of 4 MiB does not fit", bytes)
	}
	before := measure(t).Now
	c, err := firn.Open(firn.Options{RAMBytes: bytes})
	if err != nil {
		t.Fatal(err)
	}
	if err := loads[name](c, value, 3*bytes/2); err != nil {
		t.Fatal(err)
	}
	st := c.Stats()
	if st.RAM.UsedBytes > bytes {
		t.Errorf("Stats: %d bytes in use: want at most %d", st.RAM.UsedBytes, bytes)
	}
	checkResident(t, name, measure(t).Peak-before, bytes)
	if err := c.SetRAMBytes(bytes / 4); err != nil {
		t.Fatal(err)
	}
	debug.FreeOSMemory()
	checkResident(t, name+", shrunk", measure(t).Now-before, bytes/4)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	debug.FreeOSMemory()
	checkResident(t, name+", closed", measure(t).Now-before, 0)
}

func measure(t *testing.T) resident.Memory {
	t.Helper()
	m, err := resident.Read()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// checkResident compares what is resident beyond the process before Open.
func checkResident(t *testing.T, what string, got, budget int64) {
	t.Helper()
	most := budget + budget/50 + 8<<20
	switch {
	case budget < got && !offheap.Growable && givenBack(what):
		t.Logf("%s: %.1f MiB resident; what lies on the Go heap is not given back to the system", what, float64(got)/(1<<20))
	case !resident.Measured:
		t.Logf("%s: MiB of resident memory are not measured on this system", what)
	case invariants.Race:
		t.Logf("%s: MiB of resident memory are not measured under the race detector, whose shadow memory is larger", what)
	case got > most:
		t.Errorf("%s: %.1f MiB resident: want at most %.1f MiB", what, float64(got)/(1<<20), float64(most)/(1<<20))
	default:
		t.Logf("%s: %.1f MiB resident of %.1f MiB allowed", what, float64(got)/(1<<20), float64(most)/(1<<20))
	}
}

// givenBack reports whether the figure is that of memory which was released.
func givenBack(what string) bool {
	return strings.HasSuffix(what, ", shrunk") || strings.HasSuffix(what, ", closed")
}

// entryVar tells a child process to measure bytes per entry.
const entryVar = "FIRN_ENTRY"

// An entry of 16 + 64 bytes takes at most 24 bytes more, everything included.
func TestBytesPerEntry(t *testing.T) {
	if os.Getenv(entryVar) == "" {
		inChild(t, entryVar, "1")
		return
	}
	const entries, keyLen, valueLen, most = 1_000_000, 16, 64, 24
	debug.SetGCPercent(10)
	before := measure(t).Now
	c, err := firn.Open(firn.Options{RAMBytes: 256 << 20})
	if err != nil {
		t.Fatal(err)
	}
	key, value := make([]byte, keyLen), make([]byte, valueLen)
	for i := range uint64(entries) {
		binary.LittleEndian.PutUint64(key, i)
		if err := c.Set(key, value); err != nil {
			t.Fatal(err)
		}
	}
	st := c.Stats()
	if st.Entries != entries || st.Evictions != 0 {
		t.Fatalf("%d entries, %d evictions", st.Entries, st.Evictions)
	}
	debug.FreeOSMemory()
	used := float64(st.RAM.UsedBytes)/entries - keyLen - valueLen
	rss := float64(measure(t).Now-before)/entries - keyLen - valueLen
	runtime.KeepAlive(c)
	t.Logf("%.1f bytes per entry beyond key and value, %.1f with what was prefaulted (of 256 MiB)", used, rss)
	if used > most {
		t.Errorf("%.1f bytes per entry beyond key and value: want at most %d", used, most)
	}
	ahead := max(st.RAM.PrefaultedBytes, st.RAM.ResidentBytes) - st.RAM.UsedBytes // resident, and free
	if known := float64(max(ahead, 0)+8<<20)/entries + used; resident.Measured && rss > known {
		t.Errorf("%.1f bytes per entry are resident: Stats tell of %.1f", rss, known)
	}
}
