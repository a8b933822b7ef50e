package kill

import (
	"bytes"
	"encoding/binary"
	goflag "flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/firncache/firn/internal/vfs/vfstest"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/cachetest"
	"github.com/firncache/firn/internal/vfs"
	"github.com/firncache/firn/stress/internal/bounds"
)

var soak = goflag.Duration("soak", 4*time.Second, "how long TestSoak goes on")

// length is how long TestSoak goes on.
func length() time.Duration {
	if testing.Short() {
		return min(*soak, 2*time.Second)
	}
	return max(*soak, bounds.Of(0, 2*time.Minute))
}

// TestMain runs the tests, or is the process that one of them kills.
func TestMain(m *testing.M) {
	for variable, child := range map[string]func(string) error{soakVar: soakChild, warmVar: warmChild} {
		if life := os.Getenv(variable); life != "" {
			if err := child(life); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(3)
			}
			os.Exit(0)
		}
	}
	children.begin()
	code := m.Run()
	if left := children.segments(); len(left) > 0 {
		fmt.Fprintf(os.Stderr, "segments of shared memory are left, which ipcrm -m removes: %v\n", left)
		code = 1
	}
	os.Exit(code)
}

const (
	soakVar     = "FIRN_SOAK_LIFE" // the child's setting
	soakKeys    = 8000
	soakRAM     = 1 << 20 // no more than a tenth of what the keys' values take
	soakSSD     = 8 << 20
	soakMostSSD = soakSSD * 3 / 2 // of any life: a log that has shrunk takes as much until it is closed
	soakWorkers = 4
)

// Rows 1, 30, 31 and 38: the cache is used by several goroutines at random, with
// ten times what its RAM takes, on a real file system, and killed or closed again
// and again, and opened with other options. Whatever is read, also right after
// opening, is not older than what was acknowledged, nor expired, nor torn, nor
// another key's; and the budgets hold at every look.
//
//	go test ./kill -run TestSoak -soak 10m
//
// What a seed gives from run to run are the settings and what each goroutine does;
// when a process dies is the system's.
func TestSoak(t *testing.T) {
	length, rng := length(), bounds.Random(t)
	p := &soakParent{}
	dir := filepath.Join(t.TempDir(), "cache")
	longest := min(max(length/8, 300*time.Millisecond), 5*time.Second)
	for over := time.Now().Add(length); time.Now().Before(over); {
		p.live(t, randomSetting(dir, rng), lasting(time.Duration(rng.Int64N(int64(longest)))), rng.IntN(4) != 0)
	}
	p.live(t, plainSetting(dir), p.forWrites(manyWrites), true)
	p.live(t, plainSetting(dir), p.forWrites(manyWrites), false)
	found := p.found(t, plainSetting(dir))
	t.Logf("%d lives, %d killed; %d writes acknowledged, %d times all were deleted, %d hits, %d values kept over restarts, %d at the end; "+
		"the files took %.3f of their quota, and %.1f MiB were resident beyond what was before Open",
		p.lives, p.killed, p.acks.Load(), p.clears, p.hits, p.kept, found, p.most, float64(p.peak)/(1<<20))
	if p.hits == 0 || p.kept == 0 || found == 0 || p.acks.Load() == 0 || p.killed == 0 {
		t.Error("too little happened")
	}
}

// soakSetting is one life of the cache. From life to life, nothing of it drops
// the log.
type soakSetting struct {
	Dir                string
	RAMBytes, SSDBytes int64
	Admission          firn.Admission
	WriteBudget        int64
	MirrorEvery        time.Duration
	Compress           bool
	DirectIO           firn.DirectIO
	Clears             bool // now and then, all is deleted
	Seed               uint64

	// Before this change of the files the process kills itself; 0: never.
	// Closing counts from the beginning of Close.
	KillAt  int
	Closing bool
}

func plainSetting(dir string) soakSetting {
	return soakSetting{Dir: dir, RAMBytes: soakRAM, SSDBytes: soakSSD, Admission: firn.AdmitAll}
}

// randomSetting is one of many. Most admit all: there is more to go wrong.
func randomSetting(dir string, rng *rand.Rand) soakSetting {
	s := plainSetting(dir)
	s.Seed = rng.Uint64()
	s.Clears = true
	s.Admission = []firn.Admission{firn.AdmitAll, firn.AdmitAll, firn.AdmitRead, firn.AdmitSeen}[rng.IntN(4)]
	s.Compress = rng.IntN(2) == 0
	s.DirectIO = []firn.DirectIO{firn.DirectAuto, firn.DirectOff}[rng.IntN(2)]
	if rng.IntN(2) == 0 {
		s.MirrorEvery = 20 * time.Millisecond
	}
	if rng.IntN(4) == 0 {
		s.RAMBytes += soakRAM / 4
	}
	if rng.IntN(6) == 0 {
		s.SSDBytes = soakMostSSD
	}
	if rng.IntN(6) == 0 {
		s.WriteBudget = 64 << 20
	}
	if rng.IntN(6) == 0 {
		s.KillAt, s.Closing = 1+rng.IntN(3000), rng.IntN(2) == 0
	}
	return s
}

func (s *soakSetting) options() firn.Options {
	return firn.Options{RAMBytes: s.RAMBytes, SSD: firn.SSDOptions{Dir: s.Dir, Bytes: s.SSDBytes, SegmentBytes: 64 << 10,
		Admission: s.Admission, WriteBudget: s.WriteBudget, Compress: s.Compress, DirectIO: s.DirectIO, MirrorEvery: s.MirrorEvery}, Log: slog.New(slog.DiscardHandler)}
}

// arm makes the process kill itself before one of its changes of the files. It is
// called before the cache is opened; closing is to be called before it is closed.
func (s *soakSetting) arm() (closing func()) {
	if s.KillAt == 0 {
		return func() {}
	}
	var f *vfstest.Faulty
	kill := func() {
		f.Inject(vfstest.Rule{On: vfstest.OpChange, Skip: s.KillAt - 1, Hook: func(vfstest.Op) { killSelf() }})
	}
	vfs.Interpose(func(fs vfs.FS) vfs.FS {
		f = vfstest.NewFaulty(fs)
		if !s.Closing {
			kill()
		}
		return f
	})
	if s.Closing {
		return kill
	}
	return func() {}
}

// killSelf does not return.
func killSelf() {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err != nil {
		panic(err)
	}
	select {}
}

func soakKey(i int) []byte { return fmt.Appendf(nil, "key-%05d", i) }

// appendSoakValue makes a value that describes itself; every other is the same
// bytes twice, which can be compressed.
func appendSoakValue(dst, key []byte, seq uint64, n int) []byte {
	dst = cachetest.AppendValue(dst, key, seq, n)
	if seq%2 == 0 {
		dst = append(dst, dst...)
	}
	return dst
}

func soakSequence(key, v []byte) (seq uint64, err error) {
	if half := len(v) / 2; bytes.Equal(v[:half], v[half:]) {
		v = v[:half]
	}
	return cachetest.Sequence(key, v)
}

// soakWrite is a write that was acknowledged. What it set may be found before
// Expires, in milliseconds since 1970; 0: always.
type soakWrite struct {
	Seq     uint64
	Expires int64
}

// judge says what is wrong with a value of a key of which write w was
// acknowledged before it was read, at a time that had come when the read began.
func (w *soakWrite) judge(key, v []byte, began int64) (seq uint64, err error) {
	switch seq, err = soakSequence(key, v); {
	case err != nil:
		return seq, fmt.Errorf("%s: %w", key, err)
	case seq < w.Seq:
		return seq, fmt.Errorf("%s: %w: write %d, and %d was acknowledged", key, cachetest.ErrStale, seq, w.Seq)
	case seq == w.Seq && w.Expires != 0 && began > w.Expires:
		return seq, fmt.Errorf("%s: %w: it expired at %d, and the read began at %d", key, cachetest.ErrStale, w.Expires, began)
	}
	return seq, nil
}

// soakNote is what the child tells: that a write of a key was acknowledged, or
// one of the numbers below.
type soakNote struct {
	Key uint32
	soakWrite
}

const (
	soakCleared = 1<<32 - 1 - iota // every key was deleted, as write Seq
	soakReady                      // the cache is open; Seq values were found in it
	soakHits                       // so many hits since
	soakPeak                       // so many bytes were resident at most, above those before Open
)

const soakNoteLen = 20

func (n *soakNote) put(b []byte) {
	binary.LittleEndian.PutUint32(b, n.Key)
	binary.LittleEndian.PutUint64(b[4:], n.Seq)
	binary.LittleEndian.PutUint64(b[12:], uint64(n.Expires))
}

func parseSoakNote(b []byte) soakNote {
	return soakNote{binary.LittleEndian.Uint32(b), soakWrite{binary.LittleEndian.Uint64(b[4:]), int64(binary.LittleEndian.Uint64(b[12:]))}}
}
