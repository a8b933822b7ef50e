package firn

import (
	"fmt"
	"math"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"github.com/firncache/firn/internal/ssd"
	"github.com/firncache/firn/internal/tiered"
	"github.com/firncache/firn/internal/vfs"
)

// seam is what a test gives the SSD tier. It travels in SSDOptions.Dir as a name
// that nobody else has, and is forgotten with the last copy of that name.
type seam struct {
	dir    string // the true one
	fs     vfs.FS
	change func(*ssd.Config)
}

var seams struct {
	sync.Mutex
	last int
	byID map[int]seam
}

const seamPrefix = "\x00a seam of tests, number "

// On makes the SSD tier use a file system instead of a directory.
func (o SSDOptions) On(fs vfs.FS) SSDOptions {
	return o.seamed(func(s *seam) { s.fs = fs })
}

// With changes what the SSD tier is opened with.
func (o SSDOptions) With(change func(*ssd.Config)) SSDOptions {
	return o.seamed(func(s *seam) { s.change = change })
}

// seamed is o with a seam of its own, made from the one that it has.
func (o SSDOptions) seamed(change func(*seam)) SSDOptions {
	s := seamOf(o.Dir)
	change(&s)
	if s.fs == nil && s.dir == "" {
		return o // there is no SSD tier
	}
	seams.Lock()
	defer seams.Unlock()
	if seams.byID == nil {
		seams.byID = map[int]seam{}
	}
	seams.last++
	seams.byID[seams.last] = s
	o.Dir = fmt.Sprint(seamPrefix, seams.last)
	runtime.AddCleanup(unsafe.StringData(o.Dir), func(id int) {
		seams.Lock()
		defer seams.Unlock()
		delete(seams.byID, id)
	}, seams.last)
	return o
}

// seamOf is the seam of a name, or that of an ordinary directory.
func seamOf(dir string) seam {
	number, ok := strings.CutPrefix(dir, seamPrefix)
	if !ok {
		return seam{dir: dir}
	}
	id, _ := strconv.Atoi(number)
	seams.Lock()
	defer seams.Unlock()
	s := seams.byID[id]
	runtime.KeepAlive(dir)
	return s
}

func init() {
	adjustTiers = func(cfg *tiered.Config) {
		s := seamOf(cfg.Dir)
		cfg.Dir, cfg.FS, cfg.Adjust = s.dir, s.fs, s.change
		cfg.Simulation.Processor = math.MaxInt32 // so that no sample becomes smaller beside other work
	}
}
