package hitratio

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestPolicies: on every generated trace, nobody beats the bound by more than
// what entries that differ in bookkeeping explain, and each key is missed once.
func TestPolicies(t *testing.T) {
	for _, name := range Generated() {
		trace, err := Load(name, 20_000)
		if err != nil {
			t.Fatal(err)
		}
		capacity := max(trace.WorkingSet()/10, Smallest)
		misses := make(map[string]int)
		for _, p := range Policies {
			n, _, ok, err := p.Ratio(trace, capacity)
			if err != nil || !ok {
				t.Fatalf("%s on %s: %v, %v", p.Name, name, ok, err)
			}
			misses[p.Name] = n
			if n < len(trace.Sizes) || n > len(trace.Requests) {
				t.Errorf("%s on %s: %d misses of %d requests for %d keys", p.Name, name, n, len(trace.Requests), len(trace.Sizes))
			}
		}
		for p, n := range misses {
			if n < misses["Belady"] {
				t.Errorf("%s on %s: %d misses, below the bound of %d", p, name, n, misses["Belady"])
			}
		}
	}
}

// write makes a trace file of (key, size) pairs.
func write(t *testing.T, dir, name string, pairs ...[2]int) string {
	t.Helper()
	var b []byte
	for _, p := range pairs {
		b = binary.LittleEndian.AppendUint64(b, uint64(p[0]))
		b = binary.LittleEndian.AppendUint32(b, uint32(p[1]))
		b = binary.LittleEndian.AppendUint32(b, 0)
	}
	file := filepath.Join(dir, name)
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	plain := write(t, dir, "plain.trc", [2]int{7, 0}, [2]int{9, 0}, [2]int{7, 0})
	sized := write(t, dir, "sized.trc", [2]int{7, 100}, [2]int{9, 200}, [2]int{7, 100})
	files, err := Find(dir)
	if err != nil || !slices.Equal(files, []string{plain, sized}) {
		t.Fatalf("%v, %v; expected both files", files, err)
	}
	for file, want := range map[string]int64{plain: 2 * (16 + DefaultSize), sized: 332} {
		trace, err := Load(file, 10)
		if err != nil || !slices.Equal(trace.Requests, []int32{0, 1, 0}) || trace.WorkingSet() != want || trace.Sized != (file == sized) {
			t.Errorf("%s: %+v, %v; expected a working set of %d", file, trace, err, want)
		}
	}
	trace, err := Load(sized, 10)
	if err != nil {
		t.Fatal(err)
	}
	belady, err := Lookup("Belady")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, ok, err := belady.Ratio(trace, 1<<20); ok || err != nil {
		t.Errorf("a policy for one size ran on several: %v", err)
	}
}

func TestFindRefuses(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		prepare func()
		dir     string
		want    string
	}{
		{func() {}, filepath.Join(dir, "nowhere"), "no such file"},
		{func() {}, dir, "no traces"},
		{func() { write(t, dir, "empty.trc") }, dir, "empty"},
	} {
		c.prepare()
		if _, err := Find(c.dir); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v; expected an error with %q", err, c.want)
		}
	}
}
