package firn_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	goflag "flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/cachetest"
)

var soak = goflag.Duration("soak", 4*time.Second, "how long TestSoak goes on")

// TestMain runs the tests, or is the process that one of them kills.
func TestMain(m *testing.M) {
	if dir := os.Getenv("FIRN_SOAK_DIR"); dir != "" {
		if err := soakChild(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

const (
	soakKeys    = 8000
	soakRAM     = 1 << 20 // a tenth of what the keys' values take
	soakSSD     = 8 << 20
	soakWorkers = 4
)

func soakOptions(dir string) firn.Options {
	return firn.Options{RAMBytes: soakRAM, SSD: firn.SSDOptions{Dir: dir, Bytes: soakSSD, SegmentBytes: 64 << 10, Admission: firn.AdmitAll,
		Log: slog.New(slog.DiscardHandler)}}
}

func soakKey(i int) []byte { return fmt.Appendf(nil, "key-%05d", i) }

// soakNote is what the child tells: that a write of a key was acknowledged, or
// one of the numbers below.
type soakNote struct {
	Key uint32
	Seq uint64
}

const (
	soakCleared = 1<<32 - 1 - iota // every key was deleted, as write Seq
	soakReady                      // the cache is open; Seq values were found in it
	soakHits                       // so many hits since
)

const soakNoteLen = 12

// soakLife is the cache in a process that will be killed.
type soakLife struct {
	c        *firn.Cache
	acked    [soakKeys]atomic.Uint64 // the last write of each key that was acknowledged
	seq      atomic.Uint64
	hits     atomic.Uint64
	clearing sync.RWMutex // held for writing by Clear, which is a write of every key
	stop     atomic.Bool
	notes    io.Writer
	failed   chan error
}

func (l *soakLife) fail(err error) {
	select {
	case l.failed <- err:
	default:
	}
}

func (l *soakLife) tell(key uint32, seq uint64) {
	var b [soakNoteLen]byte
	binary.LittleEndian.PutUint32(b[:], key)
	binary.LittleEndian.PutUint64(b[4:], seq)
	if _, err := l.notes.Write(b[:]); err != nil {
		l.fail(err)
	}
}

// check judges a value of a key of which write acked was acknowledged before it
// was read.
func (l *soakLife) check(i int, acked uint64, v []byte) {
	seq, err := cachetest.Sequence(soakKey(i), v)
	switch {
	case err != nil:
		l.fail(fmt.Errorf("key %d: %w", i, err))
	case seq < acked:
		l.fail(fmt.Errorf("key %d: %w: write %d, and %d was acknowledged", i, cachetest.ErrStale, seq, acked))
	case seq > l.seq.Load():
		l.fail(fmt.Errorf("key %d: %w: %d", i, cachetest.ErrUnknown, seq))
	default:
		l.hits.Add(1)
	}
}

// soakChild uses the cache until its standard input ends, then closes it. What
// is acknowledged it tells on its file 3. Its input begins with the number of its
// first write, and the last acknowledged one of each key.
func soakChild(dir string) error {
	l := &soakLife{notes: os.NewFile(3, "notes"), failed: make(chan error, 1)}
	in := make([]byte, 8+8*soakKeys)
	if _, err := io.ReadFull(os.Stdin, in); err != nil {
		return err
	}
	l.seq.Store(binary.LittleEndian.Uint64(in))
	for i := range l.acked {
		l.acked[i].Store(binary.LittleEndian.Uint64(in[8+8*i:]))
	}
	var err error
	if l.c, err = firn.Open(soakOptions(dir)); err != nil {
		return err
	}
	for i := range l.acked { // while it is recovered
		if v, ok := l.c.Get(nil, soakKey(i)); ok {
			l.check(i, l.acked[i].Load(), v)
		}
	}
	l.tell(soakReady, l.hits.Load())
	var group sync.WaitGroup
	for k := range soakWorkers {
		group.Go(func() { l.work(k) })
	}
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(ended)
	}()
	for tick := time.NewTicker(20 * time.Millisecond); ; {
		select {
		case err := <-l.failed:
			return err
		case <-ended:
			l.stop.Store(true)
			group.Wait()
			return l.c.Close()
		case <-tick.C:
			l.tell(soakHits, l.hits.Load())
			if s := l.c.Stats(); s.RAMUsedBytes > s.RAMBytes || s.RAMBytes != soakRAM || s.SSDBytes > soakSSD {
				return fmt.Errorf("beyond the budget: %+v", s)
			}
		}
	}
}

// work uses the cache at random. It alone writes keys number k, k+soakWorkers and
// so on.
func (l *soakLife) work(k int) {
	rng := rand.New(rand.NewPCG(rand.Uint64(), 1))
	var buf []byte
	var batch firn.Batch
	for n := 0; !l.stop.Load(); n++ {
		i := rng.IntN(soakKeys/soakWorkers)*soakWorkers + k
		switch p := rng.IntN(100); {
		case p < 40:
			l.clearing.RLock()
			seq := l.seq.Add(1)
			buf = cachetest.AppendValue(buf[:0], soakKey(i), seq, cachetest.MinValue+rng.IntN(2500))
			var ttl time.Duration
			if p < 8 {
				ttl = time.Duration(1+rng.IntN(500)) * time.Millisecond
			}
			l.wrote(i, seq, l.c.SetWithTTL(soakKey(i), buf, ttl))
			l.clearing.RUnlock()
		case p < 45:
			l.clearing.RLock()
			seq := l.seq.Add(1)
			l.wrote(i, seq, l.c.Delete(soakKey(i)))
			l.clearing.RUnlock()
		case p < 55:
			l.getMany(&batch, rng)
		case p < 56 && k == 0 && n%500 == 0:
			l.clear()
		default:
			other := rng.IntN(soakKeys)
			acked := l.acked[other].Load()
			var ok bool
			if buf, ok = l.c.Get(buf[:0], soakKey(other)); ok {
				l.check(other, acked, buf)
			}
		}
	}
}

func (l *soakLife) wrote(i int, seq uint64, err error) {
	if err != nil {
		l.fail(err)
		return
	}
	l.acked[i].Store(seq)
	l.tell(uint32(i), seq)
}

func (l *soakLife) clear() {
	l.clearing.Lock()
	defer l.clearing.Unlock()
	if err := l.c.Clear(); err != nil {
		l.fail(err)
		return
	}
	seq := l.seq.Add(1)
	for i := range l.acked {
		l.acked[i].Store(seq)
	}
	l.tell(soakCleared, seq)
}

func (l *soakLife) getMany(batch *firn.Batch, rng *rand.Rand) {
	var keys [20][]byte
	var acked [20]uint64
	var ids [20]int
	for i := range keys {
		ids[i] = rng.IntN(soakKeys)
		keys[i], acked[i] = soakKey(ids[i]), l.acked[ids[i]].Load()
	}
	l.c.GetMulti(batch, keys[:])
	for i := range keys {
		if v, ok := batch.Value(i); ok {
			l.check(ids[i], acked[i], v)
		}
	}
}

// soakParent starts one life after the other in a directory.
type soakParent struct {
	dir         string
	acked       [soakKeys]uint64
	lives       uint64
	kept        uint64 // values that were found when it was opened, in all lives
	hits, acks  uint64
	most        int64 // bytes of all files
	killed      int
	firstOfLife uint64
}

// soakProcess is one life, as its parent sees it.
type soakProcess struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	notes  *os.File
	stderr bytes.Buffer
}

func (p *soakParent) start(t *testing.T) *soakProcess {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := &soakProcess{cmd: exec.Command(self)}
	s.cmd.Env = append(os.Environ(), "FIRN_SOAK_DIR="+p.dir)
	s.cmd.Stderr = &s.stderr
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s.cmd.ExtraFiles, s.notes = []*os.File{w}, r
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	p.lives++
	p.firstOfLife = p.lives << 40
	in := binary.LittleEndian.AppendUint64(nil, p.firstOfLife)
	for _, seq := range p.acked {
		in = binary.LittleEndian.AppendUint64(in, seq)
	}
	if _, err := s.in.Write(in); err != nil {
		t.Fatalf("%v: %s", err, s.stderr.String())
	}
	return s
}

// follow takes in what a life tells until it ends; ready is closed when it serves.
func (p *soakParent) follow(s *soakProcess, ready chan<- struct{}) {
	var hits uint64
	r := bufio.NewReader(s.notes)
	for b := make([]byte, soakNoteLen); ; {
		if _, err := io.ReadFull(r, b); err != nil {
			break // it is dead
		}
		switch n := (soakNote{binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint64(b[4:])}); n.Key {
		case soakCleared:
			for i := range p.acked {
				p.acked[i] = n.Seq
			}
		case soakReady:
			p.kept += n.Seq
			close(ready)
		case soakHits:
			hits = n.Seq
		default:
			p.acked[n.Key] = n.Seq
			p.acks++
		}
	}
	p.hits += hits
	_ = s.notes.Close()
}

// measure adds up the files.
func (p *soakParent) measure(t *testing.T) {
	t.Helper()
	sum := int64(0)
	entries, err := os.ReadDir(p.dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil { // else it has just been removed
			sum += info.Size()
		}
	}
	p.most = max(p.most, sum)
}

// live is one life, which is killed or closes the cache.
func (p *soakParent) live(t *testing.T, life time.Duration, kill bool) {
	t.Helper()
	s := p.start(t)
	ready, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		p.follow(s, ready)
	}()
	select {
	case <-ready:
	case <-ended:
	case <-time.After(time.Minute):
		t.Error("not open after a minute")
	}
	for over := time.Now().Add(life); time.Now().Before(over); time.Sleep(5 * time.Millisecond) {
		p.measure(t)
	}
	if kill {
		_ = s.cmd.Process.Kill()
		p.killed++
	}
	_ = s.in.Close()
	for closing := true; closing; {
		select {
		case <-ended:
			closing = false
		case <-time.After(time.Millisecond):
			p.measure(t)
		}
	}
	err := s.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && (!kill || !errors.As(err, &exit) || exit.Exited()) {
		t.Fatalf("life %d: %v\n%s", p.lives, err, s.stderr.String())
	}
}

// Rows 1, 30, 31 and 38: the cache is used by several goroutines at random, with
// ten times what its RAM takes, on a real file system, and killed or closed again
// and again. Whatever is read, also right after opening, is not older than what
// was acknowledged, nor torn, nor another key's; and the budgets hold.
//
//	go test -run TestSoak -soak 2m    in CI
//	go test -run TestSoak -soak 10m   by hand
func TestSoak(t *testing.T) {
	length := *soak
	if testing.Short() {
		length = min(length, 2*time.Second)
	}
	rng := rand.New(rand.NewPCG(38, uint64(time.Now().UnixNano())))
	p := &soakParent{dir: filepath.Join(t.TempDir(), "cache")}
	longest := min(max(length/8, 300*time.Millisecond), 5*time.Second)
	for over := time.Now().Add(length); time.Now().Before(over) && !t.Failed(); {
		p.live(t, 50*time.Millisecond+time.Duration(rng.Int64N(int64(longest))), rng.IntN(4) != 0)
	}
	p.live(t, 200*time.Millisecond, true)
	p.live(t, 200*time.Millisecond, false)
	c, err := firn.Open(soakOptions(p.dir))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for i, acked := range p.acked {
		v, ok := c.Get(nil, soakKey(i))
		if !ok {
			continue
		}
		found++
		if seq, err := cachetest.Sequence(soakKey(i), v); err != nil || seq < acked {
			t.Fatalf("key %d: write %d, %v; %d was acknowledged", i, seq, err, acked)
		}
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	p.measure(t)
	t.Logf("%d lives, %d killed; %d writes acknowledged, %d hits, %d values kept over restarts, %d at the end; the files took %d bytes of %d",
		p.lives, p.killed, p.acks, p.hits, p.kept, found, p.most, int64(soakSSD))
	if p.hits == 0 || p.kept == 0 || found == 0 || p.acks == 0 {
		t.Error("too little happened")
	}
	if p.most > soakSSD {
		t.Errorf("the files took %d bytes, want no more than %d", p.most, int64(soakSSD))
	}
}

// Row 18: the directory is another process's until that dies.
func TestFault18Process(t *testing.T) {
	p := &soakParent{dir: filepath.Join(t.TempDir(), "cache")}
	s := p.start(t)
	ready, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		p.follow(s, ready)
	}()
	select {
	case <-ready:
	case <-ended:
		t.Fatalf("the other process died: %s", s.stderr.String())
	}
	if _, err := firn.Open(soakOptions(p.dir)); !errors.Is(err, firn.ErrLocked) {
		t.Fatalf("Open: %v, want ErrLocked", err)
	}
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
	<-ended
	c, err := firn.Open(soakOptions(p.dir))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
}

// Row 10 on a file system that is really full. It takes the right to mount one.
func TestFault10Mounted(t *testing.T) {
	dir := t.TempDir()
	mount := func(options string) error {
		out, err := exec.Command("mount", "-t", "tmpfs", "-o", options, "tmpfs", dir).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, bytes.TrimSpace(out))
		}
		return nil
	}
	if err := mount("size=4m"); err != nil {
		t.Logf("not run: no file system can be mounted here: %v", err)
		return
	}
	defer func() {
		if out, err := exec.Command("umount", "-l", dir).CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	}()
	c, err := firn.Open(soakOptions(dir))
	if err != nil {
		t.Fatal(err)
	}
	if c.Stats().SSDOn {
		t.Fatal("on, without space")
	}
	for i := range 5000 {
		key, value := numbered(i)
		if err := c.Set(key, value); err != nil {
			t.Fatal(err)
		}
		if v, ok := c.Get(nil, key); !ok || string(v) != string(value) {
			t.Fatalf("%s: %q, %v", key, v, ok)
		}
	}
	if err := mount("remount,size=16m"); err != nil {
		t.Fatal(err)
	}
	for !c.Stats().SSDOn {
		time.Sleep(10 * time.Millisecond)
	}
	for i := range 5000 {
		key, value := numbered(i)
		if err := c.Set(key, value); err != nil {
			t.Fatal(err)
		}
	}
	if s := c.Stats(); s.Demotions == 0 {
		t.Fatalf("%+v", s)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	c, err = firn.Open(soakOptions(dir))
	if err != nil {
		t.Fatal(err)
	}
	if c.Len() == 0 {
		t.Error("nothing is kept")
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
}
