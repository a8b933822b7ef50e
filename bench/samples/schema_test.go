package samples

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestSaveIsValid: what Save writes is what the schema says, and what it does not
// say is refused.
func TestSaveIsValid(t *testing.T) {
	hit := 0.5
	r := Run{
		Suite: "ram", Command: "go run . -suite ram", Started: time.Now().UTC(), Entries: 1, Repeats: 1, Machine: ThisMachine(), Noise: &Noise{Others: 3},
		Versions: map[string]string{"firn": "Go"}, Notes: []string{"50 M left out"}, Logs: map[string]string{"gc": "gc 1"},
		Samples: []Sample{{Suite: "ram", Name: "get/zipf", Cache: "firn", Against: "otter", Ops: 4, Value: 1, Unit: "ns/op", Hit: &hit, Misses: 2, Refused: 1, Dropped: 1, Note: "n"}},
	}
	dir := t.TempDir()
	if err := r.Save(dir); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "ram.json")
	if _, err := Load(file); err != nil {
		t.Error(err)
	}
	body, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, broken := range [][2]string{
		{`"hit": 0.5`, `"hit": 1.5`}, {`"unit": "ns/op"`, `"unit": ""`}, {`"ops": 4`, `"ops": 0`}, {`"suite": "ram",`, ``},
		{`"refused": 1`, `"refused": -1`}, {`"value": 1`, `"value": "1"`}, {`"dropped": 1`, `"lost": 1`},
	} {
		text := strings.Replace(string(body), broken[0], broken[1], 1)
		if text == string(body) {
			t.Fatalf("no %s in %s", broken[0], body)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(file); err == nil {
			t.Errorf("%s in place of %s passed", broken[1], broken[0])
		}
	}
}

func TestNoise(t *testing.T) {
	for _, c := range []struct {
		n    *Noise
		want bool
	}{{nil, false}, {&Noise{}, false}, {&Noise{Others: 6}, true}, {&Noise{Steal: 2}, true}, {&Noise{Others: 4, Steal: 1}, false}} {
		if c.n.Noisy() != c.want {
			t.Errorf("%+v: noisy %v", c.n, !c.want)
		}
	}
	if n := NewWatch().Noise(); n != nil && (n.Others < 0 || n.Others > 100 || n.Steal < 0 || n.Steal > 100) {
		t.Errorf("%+v: expected percentages", n)
	}
}
