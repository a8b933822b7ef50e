package firn_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	goflag "flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/cachetest"
	"github.com/firncache/firn/internal/invariants"
	"github.com/firncache/firn/internal/vfs"
)

var soak = goflag.Duration("soak", 4*time.Second, "how long TestSoak goes on")

// TestMain runs the tests, or is the process that one of them kills.
func TestMain(m *testing.M) {
	if life := os.Getenv(soakVar); life != "" {
		if err := soakChild(life); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

const (
	soakVar     = "FIRN_SOAK_LIFE" // the child's setting
	soakKeys    = 8000
	soakRAM     = 1 << 20 // no more than a tenth of what the keys' values take
	soakSSD     = 8 << 20
	soakWorkers = 4
)

// soakSetting is one life of the cache. From life to life, nothing of it drops
// the log but a quota that shrinks.
type soakSetting struct {
	Dir                string
	RAMBytes, SSDBytes int64
	Admission          firn.Admission
	WriteLimit         int64
	Compress           bool
	DirectIO           firn.DirectIO
	Clears             bool // now and then, all is deleted
	Recovered          bool // it is used when all is recovered; otherwise meanwhile

	// Before this change of the files the process kills itself; 0: never.
	// Closing counts from the beginning of Close.
	KillAt  int
	Closing bool
}

func plainSetting(dir string) soakSetting {
	return soakSetting{Dir: dir, RAMBytes: soakRAM, SSDBytes: soakSSD, Admission: firn.AdmitAll, Recovered: true}
}

// randomSetting is one of many. Most admit all: there is more to go wrong.
func randomSetting(dir string, rng *rand.Rand) soakSetting {
	s := plainSetting(dir)
	s.Clears, s.Recovered = true, rng.IntN(2) == 0
	s.Admission = []firn.Admission{firn.AdmitAll, firn.AdmitAll, firn.AdmitRead, firn.AdmitSeen}[rng.IntN(4)]
	s.Compress = rng.IntN(2) == 0
	s.DirectIO = []firn.DirectIO{firn.DirectAuto, firn.DirectOff}[rng.IntN(2)]
	if rng.IntN(4) == 0 {
		s.RAMBytes += soakRAM / 4
	}
	if rng.IntN(6) == 0 {
		s.SSDBytes += soakSSD / 2
	}
	if rng.IntN(6) == 0 {
		s.WriteLimit = 2 << 20
	}
	if rng.IntN(6) == 0 {
		s.KillAt, s.Closing = 1+rng.IntN(3000), rng.IntN(2) == 0
	}
	return s
}

func (s *soakSetting) options() firn.Options {
	return firn.Options{RAMBytes: s.RAMBytes, SSD: firn.SSDOptions{Dir: s.Dir, Bytes: s.SSDBytes, SegmentBytes: 64 << 10,
		Admission: s.Admission, WriteLimit: s.WriteLimit, Compress: s.Compress, DirectIO: s.DirectIO, Log: slog.New(slog.DiscardHandler)}}
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

// soakLife is the cache in a process that will be killed.
type soakLife struct {
	c        *firn.Cache
	start    time.Time
	acked    [soakKeys]atomic.Pointer[soakWrite] // the last write of each key that was acknowledged
	seq      atomic.Uint64
	hits     atomic.Uint64
	clearing sync.RWMutex // held for writing by Clear, which is a write of every key
	stop     atomic.Bool
	notes    io.Writer
	failed   chan error
	before   int64 // resident bytes without the cache
	peak     int64 // and the most above them
}

func (l *soakLife) fail(err error) {
	select {
	case l.failed <- err:
	default:
	}
}

// now is the time as the cache takes it: of the system when it began, and
// monotonic since.
func (l *soakLife) now() int64 { return l.start.Add(time.Since(l.start)).UnixMilli() }

func (l *soakLife) tell(n soakNote) {
	var b [soakNoteLen]byte
	n.put(b[:])
	if _, err := l.notes.Write(b[:]); err != nil {
		l.fail(err)
	}
}

// check judges a value of a key of which write w was acknowledged before the read
// began.
func (l *soakLife) check(i int, w *soakWrite, began int64, v []byte) {
	switch seq, err := w.judge(soakKey(i), v, began); {
	case err != nil:
		l.fail(err)
	case seq > l.seq.Load():
		l.fail(fmt.Errorf("key %d: %w: %d", i, cachetest.ErrUnknown, seq))
	default:
		l.hits.Add(1)
	}
}

// soakChild uses the cache until its standard input ends, then closes it. What
// is acknowledged it tells on its file 3. Its input begins with the number of its
// first write, and the last acknowledged one of each key.
func soakChild(life string) error {
	var s soakSetting
	if err := json.Unmarshal([]byte(life), &s); err != nil {
		return err
	}
	debug.SetGCPercent(10) // what the test itself makes shall not count for much
	l := &soakLife{notes: os.NewFile(3, "notes"), failed: make(chan error, 1), start: time.Now()}
	if err := l.inherit(); err != nil {
		return err
	}
	options, closing, err := s.opening()
	if err != nil {
		return err
	}
	if l.before, err = residentNow(); err != nil {
		return err
	}
	if l.c, err = firn.Open(options); err != nil {
		return err
	}
	l.getAll()
	if s.Recovered {
		recovered(l.c)
		l.hits.Store(0)
		l.getAll()
	}
	l.tell(soakNote{soakReady, soakWrite{Seq: l.hits.Load()}})
	var group sync.WaitGroup
	for k := range soakWorkers {
		group.Go(func() { l.work(k, s.Clears) })
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
			closing()
			err := l.c.Close()
			l.tellPeak()
			return err
		case <-tick.C:
			l.tell(soakNote{soakHits, soakWrite{Seq: l.hits.Load()}})
			if err := l.budgets(&s); err != nil {
				return err
			}
		}
	}
}

// recovered returns when a cache has all that its files held.
func recovered(c *firn.Cache) {
	for c.Stats().SSDToRecover > 0 {
		time.Sleep(time.Millisecond)
	}
}

// getAll reads every key before any is written.
func (l *soakLife) getAll() {
	for i := range l.acked {
		began := l.now()
		if v, ok := l.c.Get(nil, soakKey(i)); ok {
			l.check(i, l.acked[i].Load(), began, v)
		}
	}
}

// inherit reads what the parent knows.
func (l *soakLife) inherit() error {
	in := make([]byte, 8+16*soakKeys)
	if _, err := io.ReadFull(os.Stdin, in); err != nil {
		return err
	}
	l.seq.Store(binary.LittleEndian.Uint64(in))
	for i := range l.acked {
		b := in[8+16*i:]
		l.acked[i].Store(&soakWrite{binary.LittleEndian.Uint64(b), int64(binary.LittleEndian.Uint64(b[8:]))})
	}
	return nil
}

// opening is what a life's cache is opened with. closing is to be called before
// it is closed.
func (s *soakSetting) opening() (o firn.Options, closing func(), err error) {
	o = s.options()
	if s.KillAt == 0 {
		return o, func() {}, nil
	}
	fs, err := vfs.OS(s.Dir)
	if err != nil {
		return o, nil, err
	}
	f := vfs.NewFaulty(fs)
	kill := func() {
		f.Inject(vfs.Rule{On: vfs.OpChange, Skip: s.KillAt - 1, Hook: func(vfs.Op) {
			self, err := os.FindProcess(os.Getpid())
			if err == nil {
				err = self.Kill()
			}
			if err != nil {
				panic(err)
			}
			select {}
		}})
	}
	o.SSD = o.SSD.On(f)
	if s.Closing {
		return o, kill, nil
	}
	kill()
	return o, func() {}, nil
}

// soakSlack is what may be resident beside the cache's budget: the process's own
// heap and stacks, and what docs/FAULTS.md allows for.
const soakSlack = 8 << 20

// budgets checks that the cache keeps to its own.
func (l *soakLife) budgets(s *soakSetting) error {
	if st := l.c.Stats(); st.RAMUsedBytes > st.RAMBytes || st.RAMBytes != s.RAMBytes || st.SSDBytes > s.SSDBytes {
		return fmt.Errorf("beyond the budget: %+v", st)
	}
	now, err := residentNow()
	if err != nil {
		return err
	}
	l.peak = max(l.peak, now-l.before)
	if most := s.RAMBytes + s.RAMBytes/50 + soakSlack; l.peak > most && !invariants.Race { // whose shadow is resident, too
		return fmt.Errorf("%d bytes are resident above those before Open: want no more than %d", l.peak, most)
	}
	l.tellPeak()
	return nil
}

func (l *soakLife) tellPeak() { l.tell(soakNote{soakPeak, soakWrite{Seq: uint64(l.peak)}}) }

// work uses the cache at random. It alone writes keys number k, k+soakWorkers and
// so on.
func (l *soakLife) work(k int, clears bool) {
	rng := rand.New(rand.NewPCG(rand.Uint64(), 1))
	var buf []byte
	var batch firn.Batch
	for n := 0; !l.stop.Load(); n++ {
		i := rng.IntN(soakKeys/soakWorkers)*soakWorkers + k
		switch p := rng.IntN(100); {
		case p < 40:
			buf = l.set(rng, i, p < 8, buf)
		case p < 42:
			l.setMany(rng, k)
		case p < 46:
			l.clearing.RLock()
			seq := l.seq.Add(1)
			l.wrote(i, soakWrite{Seq: seq}, l.c.Delete(soakKey(i)))
			l.clearing.RUnlock()
		case p < 56:
			l.getMany(&batch, rng)
		case p < 57 && k == 0 && n%500 == 0 && clears:
			l.clear()
		default:
			other := rng.IntN(soakKeys)
			w, began := l.acked[other].Load(), l.now()
			var ok bool
			if buf, ok = l.c.Get(buf[:0], soakKey(other)); ok {
				l.check(other, w, began, buf)
			}
		}
	}
}

// set writes a key. It returns buf, to use again.
func (l *soakLife) set(rng *rand.Rand, i int, expires bool, buf []byte) []byte {
	l.clearing.RLock()
	defer l.clearing.RUnlock()
	w := soakWrite{Seq: l.seq.Add(1)}
	buf = appendSoakValue(buf[:0], soakKey(i), w.Seq, cachetest.MinValue+rng.IntN(2500))
	var ttl time.Duration
	if expires {
		ttl = time.Duration(1+rng.IntN(500)) * time.Millisecond
	}
	err := l.c.SetWithTTL(soakKey(i), buf, ttl)
	if expires {
		const rounding = 10
		w.Expires = l.now() + ttl.Milliseconds() + rounding
	}
	l.wrote(i, w, err)
	return buf
}

// setMany writes some of the keys of worker k in one call.
func (l *soakLife) setMany(rng *rand.Rand, k int) {
	l.clearing.RLock()
	defer l.clearing.RUnlock()
	first := rng.IntN(soakKeys/soakWorkers-10)*soakWorkers + k
	var keys, values [][]byte
	var writes []soakWrite
	for i := range 10 {
		w := soakWrite{Seq: l.seq.Add(1)}
		key := soakKey(first + i*soakWorkers)
		keys, writes = append(keys, key), append(writes, w)
		values = append(values, appendSoakValue(nil, key, w.Seq, cachetest.MinValue+rng.IntN(500)))
	}
	err := l.c.SetMulti(keys, values)
	for i, w := range writes {
		l.wrote(first+i*soakWorkers, w, err)
	}
}

func (l *soakLife) wrote(i int, w soakWrite, err error) {
	if err != nil {
		l.fail(err)
		return
	}
	l.acked[i].Store(&w)
	l.tell(soakNote{uint32(i), w})
}

func (l *soakLife) clear() {
	l.clearing.Lock()
	defer l.clearing.Unlock()
	if err := l.c.Clear(); err != nil {
		l.fail(err)
		return
	}
	w := soakWrite{Seq: l.seq.Add(1)}
	for i := range l.acked {
		l.acked[i].Store(&w)
	}
	l.tell(soakNote{soakCleared, w})
}

func (l *soakLife) getMany(batch *firn.Batch, rng *rand.Rand) {
	var keys [20][]byte
	var acked [20]*soakWrite
	var ids [20]int
	for i := range keys {
		ids[i] = rng.IntN(soakKeys)
		keys[i], acked[i] = soakKey(ids[i]), l.acked[ids[i]].Load()
	}
	began := l.now()
	l.c.GetMulti(batch, keys[:])
	for i := range keys {
		if v, ok := batch.Value(i); ok {
			l.check(ids[i], acked[i], began, v)
		}
	}
}

// soakParent starts one life after the other in a directory.
type soakParent struct {
	acked  [soakKeys]soakWrite
	lives  uint64
	kept   uint64 // values that were found when it was opened, in all lives
	hits   uint64
	acks   atomic.Uint64
	clears int
	most   float64 // of the quota that the files took
	killed int
	peak   uint64 // resident bytes above those before Open
	quota  int64  // of the life before
}

// soakProcess is one life, as its parent sees it.
type soakProcess struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	notes  *os.File
	stderr bytes.Buffer
	ready  chan struct{} // closed when it serves
	ended  chan struct{} // and when all that it told has been taken in
}

func (p *soakParent) start(t *testing.T, setting soakSetting) *soakProcess {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	life, err := json.Marshal(setting)
	if err != nil {
		t.Fatal(err)
	}
	s := &soakProcess{cmd: exec.Command(self), ready: make(chan struct{}), ended: make(chan struct{})}
	s.cmd.Env = append(os.Environ(), soakVar+"="+string(life))
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
	in := binary.LittleEndian.AppendUint64(nil, p.lives<<40)
	for _, w := range p.acked {
		in = binary.LittleEndian.AppendUint64(in, w.Seq)
		in = binary.LittleEndian.AppendUint64(in, uint64(w.Expires))
	}
	if _, err := s.in.Write(in); err != nil {
		t.Fatalf("%v: %s", err, s.stderr.String())
	}
	go func() {
		defer close(s.ended)
		p.follow(s)
	}()
	return s
}

// follow takes in what a life tells until it ends.
func (p *soakParent) follow(s *soakProcess) {
	var hits uint64
	r := bufio.NewReader(s.notes)
	for b := make([]byte, soakNoteLen); ; {
		if _, err := io.ReadFull(r, b); err != nil {
			break // it is dead
		}
		switch n := parseSoakNote(b); n.Key {
		case soakCleared:
			for i := range p.acked {
				p.acked[i] = n.soakWrite
			}
			p.clears++
		case soakReady:
			p.kept += n.Seq
			close(s.ready)
		case soakHits:
			hits = n.Seq
		case soakPeak:
			p.peak = max(p.peak, n.Seq)
		default:
			p.acked[n.Key] = n.soakWrite
			p.acks.Add(1)
		}
	}
	p.hits += hits
	_ = s.notes.Close()
}

// measure adds up the files, and compares them with the quota.
func (p *soakParent) measure(t *testing.T, dir string, quota int64) {
	t.Helper()
	sum := int64(0)
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil { // else it has just been removed
			sum += info.Size()
		}
	}
	p.most = max(p.most, float64(sum)/float64(quota))
	if sum > quota {
		t.Fatalf("the files take %d bytes, want no more than %d", sum, quota)
	}
}

// manyWrites are more than RAM takes.
const manyWrites = 2000

// forWrites ends a life after so many writes.
func (p *soakParent) forWrites(n uint64) (over func() bool) {
	n += p.acks.Load()
	return func() bool { return p.acks.Load() >= n }
}

// lasting ends a life after a time.
func lasting(d time.Duration) (over func() bool) {
	var began time.Time
	return func() bool {
		if began.IsZero() {
			began = time.Now()
		}
		return time.Since(began) > d
	}
}

// live is one life, which is killed or closes the cache when it serves and over
// says so.
func (p *soakParent) live(t *testing.T, setting soakSetting, over func() bool, kill bool) {
	t.Helper()
	s := p.start(t, setting)
	dir, quota := setting.Dir, max(setting.SSDBytes, p.quota) // until it is open, the files may be what they were
	p.quota = setting.SSDBytes
	const tooLong = time.Minute
	for began := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		select {
		case <-s.ready:
			quota = setting.SSDBytes
		case <-s.ended:
		default:
			if time.Since(began) > tooLong {
				t.Fatalf("not open after %v", tooLong)
			}
			p.measure(t, dir, quota)
			continue
		}
		break
	}
	for ; !over() && !s.isOver(); time.Sleep(5 * time.Millisecond) {
		p.measure(t, dir, quota)
	}
	if kill {
		_ = s.cmd.Process.Kill()
	}
	_ = s.in.Close()
	for ; !s.isOver(); time.Sleep(time.Millisecond) {
		p.measure(t, dir, quota)
	}
	p.end(t, s, kill || setting.KillAt != 0)
}

func (s *soakProcess) isOver() bool {
	select {
	case <-s.ended:
		return true
	default:
		return false
	}
}

// end takes in how a life ended. Only one that may be killed may end so.
func (p *soakParent) end(t *testing.T, s *soakProcess, killed bool) {
	t.Helper()
	<-s.ended
	err := s.cmd.Wait()
	var exit *exec.ExitError
	switch {
	case err == nil:
	case killed && errors.As(err, &exit) && !exit.Exited():
		p.killed++
	default:
		t.Fatalf("life %d: %v\n%s", p.lives, err, s.stderr.String())
	}
}

// found reads every key of the cache of a life that is over, and returns how many
// it found.
func (p *soakParent) found(t *testing.T, setting soakSetting) (n int) {
	t.Helper()
	c, err := firn.Open(setting.options())
	if err != nil {
		t.Fatal(err)
	}
	recovered(c)
	for i := range p.acked {
		began := time.Now().UnixMilli()
		v, ok := c.Get(nil, soakKey(i))
		if !ok {
			continue
		}
		n++
		if _, err := p.acked[i].judge(soakKey(i), v, began); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	return n
}

// Rows 1, 30, 31 and 38: the cache is used by several goroutines at random, with
// ten times what its RAM takes, on a real file system, and killed or closed again
// and again, and opened with other options. Whatever is read, also right after
// opening, is not older than what was acknowledged, nor expired, nor torn, nor
// another key's; and the budgets hold at every look.
//
//	go test -run TestSoak -soak 2m    in CI
//	go test -run TestSoak -soak 10m   by hand
func TestSoak(t *testing.T) {
	length := *soak
	if testing.Short() {
		length = min(length, 2*time.Second)
	}
	seed := uint64(time.Now().UnixNano())
	rng := rand.New(rand.NewPCG(38, seed))
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
