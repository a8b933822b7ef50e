// Package memory says how much memory the process may use, and keeps caches within what
// its neighbors leave.
package memory

import (
	"bufio"
	"bytes"
	"io/fs"
	"math"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Usage is the memory of the process's groups and of the machine, in bytes.
type Usage struct {
	Limit     int64         // the least limit that holds for the process; 0: the system names none
	File      string        // where that limit stands
	Available int64         // what is left of the limit that is nearest, reclaimable pages included
	Stalled   time.Duration // for how long processes have waited for memory since the group began; 0 if the system does not count it
}

// System is the file system that holds /proc and /sys.
type System struct{ fs.FS }

// Machine is the system that the process runs on.
var Machine = System{os.DirFS("/")}

// Usage reads the limits of all cgroups from the process's own up, of version 1 or 2,
// and the machine's memory. On a system that has neither, it is zero.
func (s System) Usage() Usage {
	u := Usage{Limit: math.MaxInt64, Available: math.MaxInt64}
	stat := s.stat("proc/meminfo")
	u.add(stat["MemTotal:"]*1024, stat["MemAvailable:"]*1024, "/proc/meminfo")
	pressure := "proc/pressure/memory"
	for _, g := range s.groups() {
		free := s.number(g.file(g.usage)) - s.reclaimable(g)
		for _, name := range g.limits {
			if limit := s.number(g.file(name)); limit > 0 && limit < unlimited {
				u.add(limit, limit-free, "/"+g.file(name))
				pressure = g.file("memory.pressure")
			}
		}
	}
	if u.Limit == math.MaxInt64 {
		return Usage{}
	}
	u.Stalled = s.stalled(pressure)
	return u
}

// Limit is Usage().Limit and Usage().File of the machine, at most a second old: who opens a
// thousand caches has them read once.
func Limit() (limit int64, file string) {
	last.Lock()
	defer last.Unlock()
	if since := time.Since(last.at); last.at.IsZero() || since < 0 || since > time.Second {
		last.at, last.usage = time.Now(), Machine.Usage()
	}
	return last.usage.Limit, last.usage.File
}

// last is what Limit has read last.
var last struct {
	sync.Mutex
	at    time.Time
	usage Usage
}

// unlimited is about what version 1 says where there is no limit.
const unlimited = 1 << 62

// add counts in a limit and what is left of it.
func (u *Usage) add(limit, left int64, file string) {
	if limit <= 0 {
		return
	}
	if limit < u.Limit {
		u.Limit, u.File = limit, file
	}
	u.Available = min(u.Available, left)
}

// group is a cgroup of the process.
type group struct {
	dir    string
	limits []string // names of files
	usage  string
	prefix string // of the names in memory.stat that count the groups below, too
}

func (g *group) file(name string) string { return path.Join(g.dir, name) }

// groups are the process's memory cgroups, its own first.
func (s System) groups() []group {
	own, v1 := s.ownGroup()
	mount, root := s.mount(v1)
	if own == "" || mount == "" {
		return nil
	}
	below, ok := strings.CutPrefix(own, strings.TrimSuffix(root, "/"))
	if !ok { // of another namespace: what is mounted is what we see
		below = "/"
	}
	g := group{limits: []string{"memory.max", "memory.high"}, usage: "memory.current"}
	if v1 {
		g = group{limits: []string{"memory.limit_in_bytes"}, usage: "memory.usage_in_bytes", prefix: "total_"}
	}
	var all []group
	for below = path.Clean("/" + below); ; below = path.Dir(below) {
		g.dir = path.Join(strings.TrimPrefix(mount, "/"), below)
		all = append(all, g)
		if below == "/" {
			return all
		}
	}
}

// ownGroup is the path of the process's memory cgroup, and whether version 1 has it.
func (s System) ownGroup() (own string, v1 bool) {
	for line := range s.lines("proc/self/cgroup") {
		parts := strings.SplitN(line, ":", 3)
		switch {
		case len(parts) < 3:
		case hasWord(parts[1], "memory"):
			return parts[2], true
		case parts[0] == "0" && parts[1] == "":
			own = parts[2]
		}
	}
	return own, false
}

// mount is where memory cgroups are mounted, and which of them is the top there.
func (s System) mount(v1 bool) (mount, root string) {
	for line := range s.lines("proc/self/mountinfo") {
		about, system, _ := strings.Cut(line, " - ")
		a, b := strings.Fields(about), strings.Fields(system)
		if len(a) < 5 || len(b) < 3 {
			continue
		}
		if v1 && b[0] == "cgroup" && hasWord(b[2], "memory") || !v1 && b[0] == "cgroup2" {
			return unescape.Replace(a[4]), unescape.Replace(a[3])
		}
	}
	return "", ""
}

// unescape undoes what mountinfo does to paths.
var unescape = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)

// hasWord reports whether a list with commas has a word.
func hasWord(list, word string) bool { return strings.Contains(","+list+",", ","+word+",") }

// reclaimable is what the system takes back before it kills a process: pages of
// files that need not be written first, and the unmapped parts of huge pages, which stay
// charged until then. They are what the lists of anonymous pages have beyond what is mapped.
func (s System) reclaimable(g group) int64 {
	stat, p := s.stat(g.file("memory.stat")), g.prefix
	anon, dirty, slab := stat["anon"], stat["file_dirty"]+stat["file_writeback"], stat["slab_reclaimable"]
	if p != "" {
		anon, dirty, slab = stat[p+"rss"], stat[p+"dirty"]+stat[p+"writeback"], 0
	}
	files := stat[p+"active_file"] + stat[p+"inactive_file"] - dirty
	parts := stat[p+"active_anon"] + stat[p+"inactive_anon"] - anon - stat[p+"shmem"]
	return max(files, 0) + max(parts, 0) + slab
}

// stalled is the time of "some" in a file of pressure.
func (s System) stalled(file string) time.Duration {
	for line := range s.lines(file) {
		if !strings.HasPrefix(line, "some ") {
			continue
		}
		_, total, _ := strings.Cut(line, "total=")
		us, _ := strconv.ParseInt(total, 10, 64)
		return time.Duration(us) * time.Microsecond
	}
	return 0
}

// stat reads a file of names and numbers; without one it is empty.
func (s System) stat(file string) map[string]int64 {
	stat := map[string]int64{}
	for line := range s.lines(file) {
		if f := strings.Fields(line); len(f) >= 2 {
			stat[f[0]], _ = strconv.ParseInt(f[1], 10, 64)
		}
	}
	return stat
}

// number reads a file of one number; 0 if it is none, as "max" is.
func (s System) number(file string) int64 {
	content, _ := fs.ReadFile(s, file)
	n, _ := strconv.ParseInt(string(bytes.TrimSpace(content)), 10, 64)
	return n
}

// lines yields the lines of a file, none if it cannot be read.
func (s System) lines(file string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		content, err := fs.ReadFile(s, file)
		if err != nil {
			return
		}
		for scan := bufio.NewScanner(bytes.NewReader(content)); scan.Scan(); {
			if !yield(scan.Text()) {
				return
			}
		}
	}
}
