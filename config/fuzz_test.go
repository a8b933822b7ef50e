package config

import (
	"bytes"
	"os"
	"testing"
)

// Whatever the bytes are, Load answers with caches that are in order, or with
// faults that lie within the file.
func FuzzLoad(f *testing.F) {
	for _, name := range []string{"testdata/firn.yaml", "testdata/firn.json"} {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("caches:\n  a: &x\n    ram_bytes: [*x]\n"))
	f.Add([]byte("? {a: b}\n: !!binary |\n  eA==\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := newReader("f")
		r.readFile(data)
		r.validate()
		lines := bytes.Count(data, []byte("\n")) + bytes.Count(data, []byte("\r")) + 1
		for _, fault := range r.faults.list {
			if fault.Line < 0 || fault.Line > lines || fault.Err == nil {
				t.Errorf("%v: line %d of %d", fault, fault.Line, lines)
			}
		}
		if len(r.faults.list) > 0 {
			return
		}
		for name, set := range r.caches {
			if err := set.Options.Validate(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}
