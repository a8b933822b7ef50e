//go:build linux

package stress

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/remote/internal/entry"
)

// The model follows what each command leaves behind.
func TestModel(t *testing.T) {
	const second = int64(1e9)
	of := func(n int64) string {
		return string(entry.Append(nil, entry.Header{Version: shared.Version(n)}, appendValue(nil, 0, n)))
	}
	for name, c := range map[string]struct {
		commands [][]string // a second apart
		from, to int64      // in seconds
		want     string
	}{
		"nothing yet":                 {nil, 0, 9, "[]"},
		"one after the other":         {[][]string{{"SET", "k", of(7)}, {"SET", "k", of(8)}}, 1, 9, "[7 8]"},
		"the first is over":           {[][]string{{"SET", "k", of(7)}, {"SET", "k", of(8)}}, 3, 9, "[8]"},
		"the second is to come":       {[][]string{{"SET", "k", of(7)}, {"SET", "k", of(8)}}, 0, 1, "[7]"},
		"another key":                 {[][]string{{"SET", "other", of(7)}}, 0, 9, "[]"},
		"removed":                     {[][]string{{"SET", "k", of(7)}, {"UNLINK", "x", "k"}}, 3, 9, "[0]"},
		"flushed":                     {[][]string{{"SET", "k", of(7)}, {"FLUSHALL"}}, 3, 9, "[0]"},
		"there already":               {[][]string{{"SET", "k", of(7)}, {"SET", "k", of(8), "NX"}}, 3, 9, "[7]"},
		"not there yet":               {[][]string{{"SET", "k", of(8), "NX", "PX", "9000"}}, 3, 9, "[8]"},
		"there, but its life is over": {[][]string{{"SET", "k", of(7), "PX", "500"}, {"SET", "k", of(8), "NX"}}, 3, 9, "[8]"},
		"perhaps over":                {[][]string{{"SET", "k", of(7), "PX", "1000"}, {"SET", "k", of(8), "NX"}}, 3, 9, "[-1]"},
		"expired":                     {[][]string{{"SET", "k", of(7), "PX", "500"}}, 3, 9, "[]"},
		"what was expected":           {[][]string{{"SET", "k", of(7)}, {"SET", "k", of(8), "IFEQ", of(7), "PX", "90000"}}, 3, 9, "[8]"},
		"not what was expected":       {[][]string{{"SET", "k", of(7)}, {"SET", "k", of(8), "IFEQ", of(9)}}, 3, 9, "[7]"},
		"removed if as expected":      {[][]string{{"SET", "k", of(7)}, {"SET", "k", "", "IFEQ", of(7), "PXAT", "1"}}, 3, 9, "[0]"},
		"a lease":                     {[][]string{{"SET", "k", string(entry.Marker(entry.FlagLease, 5)), "NX", "PX", "90000"}}, 3, 9, "[0]"},
		"of no cache":                 {[][]string{{"SET", "k", "x"}}, 3, 9, "[0]"},
	} {
		m := newModel([]string{"k"})
		for i, args := range c.commands {
			m.do(int64(i+1)*second, "0", args)
		}
		got := []int64{}
		for _, v := range m.between(0, c.from*second, c.to*second) {
			got = append(got, v.n)
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s: %v, want %s", name, got, c.want)
		}
		m.forget(9 * second)
		if n := len(m.keys[0].versions); n > 1 {
			t.Errorf("%s: %d versions are kept", name, n)
		}
	}
	other := newModel([]string{"k"})
	if other.do(second, "3", []string{"SET", "k", of(7)}); len(other.keys[0].versions) > 0 {
		t.Error("another database counts")
	}
}

func TestParseMonitor(t *testing.T) {
	at, db, args, ok := parseMonitor("+1339518083.107412 [0 127.0.0.1:60866] \"set\" \"k \\\"\" \"\\x00\\xff\\r\\n\\\\\"\r\n")
	if want := fmt.Sprintf("%q", []string{"SET", "k \"", "\x00\xff\r\n\\"}); !ok || at != 1339518083107412000 || db != "0" || fmt.Sprintf("%q", args) != want {
		t.Errorf("%d, %s, %q, %t: want %s", at, strconv.Quote(db), args, ok, want)
	}
	if _, db, args, ok := parseMonitor("+1339518083.107412 [3 lua] \"FLUSHDB\"\r\n"); !ok || db != "3" || args[0] != "FLUSHDB" {
		t.Errorf("%s, %q, %t", db, args, ok)
	}
	for _, line := range []string{"", "+OK\r\n", "+1.000001 [0 x] set k\r\n", "+1.000001 [0 x] \"set\r\n"} {
		if _, _, args, ok := parseMonitor(line); ok {
			t.Errorf("%q: %q", line, args)
		}
	}
}
