package samples

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// Noise is the machine's work besides a run, in percent of the time of all
// its processors.
type Noise struct {
	Others float64 `json:"others_percent"` // other programs, and the kernel's own threads
	Steal  float64 `json:"steal_percent"`  // other virtual machines on the same hardware
}

// Above these the machine counts as noisy.
const (
	noisyOthers = 5
	noisySteal  = 1
)

// Noisy reports whether figures may have suffered.
func (n *Noise) Noisy() bool { return n != nil && (n.Others > noisyOthers || n.Steal > noisySteal) }

// A Watch measures the noise between two moments.
type Watch struct {
	start      time.Time
	busy, lost float64 // of all processors since boot, in seconds
	own        float64 // of this process and of its children that have ended
	known      bool
}

// NewWatch starts a watch.
func NewWatch() Watch {
	w := Watch{start: time.Now(), own: OwnSeconds()}
	w.busy, w.lost, w.known = processors()
	return w
}

// Noise returns the noise since the watch was started, and nil where the
// system does not tell. Child processes count as noise until they have ended.
func (w Watch) Noise() *Noise {
	busy, lost, ok := processors()
	all := time.Since(w.start).Seconds() * float64(runtime.NumCPU())
	if !ok || !w.known || all <= 0 {
		return nil
	}
	others := busy - w.busy - (OwnSeconds() - w.own)
	return &Noise{Others: percentOf(others, all), Steal: percentOf(lost-w.lost, all)}
}

// percentOf keeps errors of the kernel's rounded counters out of sight.
func percentOf(part, whole float64) float64 { return min(max(100*part/whole, 0), 100) }

// processors reads the time that all processors were busy and that was stolen
// from them, in seconds since boot.
func processors() (busy, stolen float64, ok bool) {
	const ticks = 100 // a second, on every Linux that Go runs on
	body, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, 0, false
	}
	line, _, _ := strings.Cut(string(body), "\n")
	fields := strings.Fields(line) // cpu user nice system idle iowait irq softirq steal …
	if len(fields) < 9 || fields[0] != "cpu" {
		return 0, 0, false
	}
	for i, f := range fields[1:9] {
		v, err := strconv.ParseFloat(f, 64)
		if err != nil {
			return 0, 0, false
		}
		switch i {
		case 0, 1, 2, 5, 6:
			busy += v / ticks
		case 7:
			stolen = v / ticks
		}
	}
	return busy, stolen, true
}
