//go:build linux

package stress

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/firncache/firn/remote/internal/entry"
	"github.com/klauspost/compress/s2"
)

// model is what commands leave behind under some keys, one of them after the other.
type model struct {
	numbers map[string]uint32 // by name
	keys    []lifetime
}

// lifetime is a key's.
type lifetime struct {
	text     string // that lies there now; "": nothing
	until    int64  // 0: for ever
	versions []version
}

// version is the number that a key had from a time on; 0 for no value.
type version struct{ at, until, n int64 }

// unclear is the number of a version that depends on which of two came first.
const unclear = -1

// nearEnd is how near the end of a key's life it is not clear whether it is over, in nanoseconds.
const nearEnd = 10e6

func newModel(names []string) *model {
	m := &model{numbers: map[string]uint32{}, keys: make([]lifetime, len(names))}
	for i, name := range names {
		m.numbers[name] = uint32(i)
	}
	return m
}

// do does a command that the server has done, successful or not.
func (m *model) do(at int64, db string, args []string) {
	switch command := args[0]; {
	case command == "FLUSHALL" || command == "FLUSHDB" && db == "0":
		for name := range m.numbers {
			m.put(at, name, "", 0)
		}
	case db != "0":
	case command == "SET" && len(args) > 2:
		m.set(at, args[1], args[2], args[3:])
	case command == "UNLINK" || command == "DEL":
		for _, name := range args[1:] {
			m.put(at, name, "", 0)
		}
	}
}

func (m *model) set(at int64, name, text string, options []string) {
	i, ok := m.numbers[name]
	if !ok {
		return
	}
	p, until := &m.keys[i], int64(0)
	if p.until != 0 && at > p.until+nearEnd {
		p.text = "" // its life is over
	}
	if p.until != 0 && at > p.until-nearEnd && at <= p.until+nearEnd {
		p.versions = append(p.versions, version{at: at, n: unclear})
	}
	for len(options) > 0 {
		option, value := strings.ToUpper(options[0]), ""
		if options = options[1:]; option != "NX" && option != "XX" && len(options) > 0 {
			value, options = options[0], options[1:]
		}
		switch {
		case option == "NX" && p.text != "", option == "XX" && p.text == "", option == "IFEQ" && p.text != value:
			return
		case option == "PX":
			ms, _ := strconv.ParseInt(value, 10, 64)
			until = at + ms*1e6
		case option == "PXAT": // a time long ago
			text = ""
		}
	}
	m.put(at, name, text, until)
}

// put has a text lie under a name.
func (m *model) put(at int64, name, text string, until int64) {
	if i, ok := m.numbers[name]; ok {
		p := &m.keys[i]
		p.text, p.until = text, until
		p.versions = append(p.versions, version{at, until, numberIn(i, text)})
	}
}

// numberIn is the number of the value that lies on the server; 0 if that is none.
func numberIn(key uint32, text string) int64 {
	h, value, ok := entry.Open([]byte(text))
	if !ok || h.Valueless() || h.Flags&entry.FlagNegative != 0 {
		return 0
	}
	if h.Flags&entry.FlagS2 != 0 {
		value, _ = s2.Decode(nil, value)
	}
	n, err := numberOf(key, value)
	if err != nil {
		return 0
	}
	return n
}

// between are the versions that a key had at some time between two.
func (m *model) between(key uint32, from, to int64) (there []version) {
	versions := m.keys[key].versions
	for i, v := range versions {
		ended := i+1 < len(versions) && versions[i+1].at < from || v.until != 0 && v.until+nearEnd < from
		if v.at <= to && !ended {
			there = append(there, v)
		}
	}
	return there
}

// forget drops the versions that were over at a time.
func (m *model) forget(at int64) {
	for i := range m.keys {
		p := &m.keys[i]
		first := 0
		for first+1 < len(p.versions) && p.versions[first+1].at < at {
			first++
		}
		p.versions = append([]version(nil), p.versions[first:]...)
	}
}

var monitorLine = regexp.MustCompile(`^\+(\d+)\.(\d{6}) \[(\d+) ([^\]]*)\] (.*)$`)

// parseMonitor takes a line of MONITOR apart: when it was, in nanoseconds, which database, and the
// command with its arguments.
func parseMonitor(line string) (at int64, db string, args []string, ok bool) {
	m := monitorLine.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
	if m == nil {
		return 0, "", nil, false
	}
	seconds, _ := strconv.ParseInt(m[1], 10, 64)
	micros, _ := strconv.ParseInt(m[2], 10, 64)
	for rest := m[5]; rest != ""; rest = strings.TrimPrefix(rest, " ") {
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil {
			return 0, "", nil, false
		}
		arg, err := strconv.Unquote(quoted)
		if err != nil {
			return 0, "", nil, false
		}
		args, rest = append(args, arg), rest[len(quoted):]
	}
	if len(args) > 0 {
		args[0] = strings.ToUpper(args[0])
	}
	return seconds*1e9 + micros*1e3, m[3], args, len(args) > 0
}

func (v version) String() string {
	return fmt.Sprintf("%d from %d.%03d ms on", v.n, v.at/1e6, v.at/1e3%1e3)
}
