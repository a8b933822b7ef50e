package ssd

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/firncache/firn/internal/record"
	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/vfs"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// world is a tier with the least that can stand above it: a map for RAM, whose
// owner tells the tier what the real one would, and what each key's last
// acknowledged write was. One goroutine drives it.
type world struct {
	rng    *rand.Rand
	tier   *Tier
	hasher record.Hasher
	ram    map[string]value
	mu     sync.Mutex        // of acked, there and seq, which a crash copies
	acked  map[string]uint64 // sequence number of the last acknowledged write; odd: a delete
	there  map[string]uint64 // that of what the tier took over, and no write has superseded since
	seq    uint64
	now    atomic.Int64
	most   int // longest value
	hits   int // found in the tier
	atRest bool
	log    io.Writer
	opened *opened
}

// bubble runs a test beside others, in a bubble of its own: time stands still while
// anything is left to do. What waits for a tier that is behind waits until it is
// not; no machine is too slow, and what takes hours takes none.
func bubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, test)
}

// inBubble is t.Run for a test in a bubble.
func inBubble(t *testing.T, name string, test func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { bubble(t, test) })
}

// opened are the tiers that a test opened and has not closed, and whether it holds
// their restarting. A test that fails leaves some: a bubble has to see the end of
// their goroutines, or all that one is told is that they did not.
type opened struct {
	mu    sync.Mutex
	tiers map[*Tier]bool
}

func (o *opened) add(t *Tier, atRest bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.tiers == nil {
		o.tiers = map[*Tier]bool{}
	}
	o.tiers[t] = atRest
}

func (o *opened) remove(t *Tier) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.tiers, t)
}

func (o *opened) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for t, atRest := range o.tiers {
		if atRest {
			t.restarting.Unlock()
		}
		_ = t.Close()
	}
}

type value struct {
	bytes    []byte
	deadline int64
}

const startOfTime = 1_000_000

func testConfig(fs vfs.FS, w *world) Config {
	return Config{
		FS: fs, Bytes: 2 << 20, SegmentBytes: 64 << 10, Memory: 1 << 20, Admission: AdmitAll,
		Now: func() int64 { return w.now.Load() }, Log: slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelWarn})),
		BootID: func() string { return "boot" },
	}
}

// testLog is a test's output until the test ends. What a tier that was left open,
// as by a crash, tells later has no test to belong to.
type testLog struct {
	mu  sync.Mutex
	out io.Writer // nil: the test has ended
}

func logOf(t testing.TB) *testLog {
	l := &testLog{out: t.Output()}
	t.Cleanup(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.out = nil
	})
	return l
}

func (l *testLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.out == nil {
		return len(b), nil
	}
	return l.out.Write(b)
}

func newWorld(t testing.TB, seed uint64) *world {
	w := &world{log: logOf(t), opened: new(opened), rng: rand.New(rand.NewPCG(seed, 1)), ram: map[string]value{}, acked: map[string]uint64{}, there: map[string]uint64{}, most: 3000}
	w.now.Store(startOfTime)
	t.Cleanup(w.opened.close)
	return w
}

// open starts a tier over what the files hold.
func (w *world) open(cfg Config) error {
	t, err := Open(cfg)
	if err != nil {
		return err
	}
	w.opened.add(t, false)
	w.tier, w.hasher = t, record.NewHasher(t.Seed())
	err = t.Start(func(int64) error { return nil })
	if err != nil { // as the cache does then
		_ = t.Close()
		t.Free()
		w.opened.remove(t)
		w.tier = nil
	}
	return err
}

func (w *world) key(i int) []byte { return fmt.Appendf(nil, "key-%06d", i) }

// bytesOf makes a value that tells what it is: the key's checksum, the sequence
// number, and filling that follows from them.
func (w *world) bytesOf(key []byte, seq uint64, n int) []byte {
	b := make([]byte, 16, 24+n)
	binary.LittleEndian.PutUint32(b, crc32.ChecksumIEEE(key))
	binary.LittleEndian.PutUint64(b[4:], seq)
	for r := rand.NewPCG(seq, uint64(len(key))); len(b) < 16+n; {
		b = binary.LittleEndian.AppendUint64(b, r.Uint64())
	}
	b = b[:16+n]
	binary.LittleEndian.PutUint32(b[12:], crc32.ChecksumIEEE(b[16:]))
	return b
}

func seqOf(key, b []byte) (uint64, error) {
	if len(b) < 16 || binary.LittleEndian.Uint32(b[12:]) != crc32.ChecksumIEEE(b[16:]) {
		return 0, errors.New("torn value")
	}
	if binary.LittleEndian.Uint32(b) != crc32.ChecksumIEEE(key) {
		return 0, errors.New("another key's value")
	}
	return binary.LittleEndian.Uint64(b[4:]), nil
}

// next is the number of the next write.
func (w *world) next() {
	w.mu.Lock()
	w.seq += 2
	w.mu.Unlock()
}

// roomy waits until the log has room. Memory for the index comes when the tier's
// goroutines have had their turn.
func (w *world) roomy() {
	w.tier.WaitRoom()
	runtime.Gosched()
}

// ready waits for the tier's being ready, as a write does.
func (w *world) ready() { _, _ = w.tier.Ready(0) }

// set writes a key.
func (w *world) set(key []byte, deadline int64) {
	w.ready()
	w.next()
	w.ram[string(key)] = value{w.bytesOf(key, w.seq, w.rng.IntN(w.most)), deadline}
	w.superseded(key, w.seq)
}

// put writes a key and lets it leave RAM, when the tier has room for it.
func (w *world) put(t testing.TB, key []byte) {
	t.Helper()
	w.set(key, 0)
	v := w.ram[string(key)]
	for h := w.hasher.Hash(key); !w.tier.Demote(h, key, v.bytes, v.deadline, true, true); w.roomy() {
		if s := w.tier.Stats(); !s.On {
			t.Fatalf("the tier is off: %+v", s)
		}
	}
	delete(w.ram, string(key))
	w.took(key)
}

// took notes that the tier has the last version of a key.
func (w *world) took(key []byte) {
	w.mu.Lock()
	w.there[string(key)] = w.acked[string(key)]
	w.mu.Unlock()
}

func (w *world) delete(key []byte) {
	w.next()
	delete(w.ram, string(key))
	w.superseded(key, w.seq+1)
}

// superseded tells the tier of a write, which is acknowledged by that.
func (w *world) superseded(key []byte, seq uint64) {
	w.tier.Superseded(w.hasher.Hash(key))
	w.mu.Lock()
	w.acked[string(key)] = seq
	delete(w.there, string(key))
	w.mu.Unlock()
}

// demote lets a key leave RAM.
func (w *world) demote(key []byte) bool {
	v, ok := w.ram[string(key)]
	if !ok {
		return false
	}
	ok = w.tier.Demote(w.hasher.Hash(key), key, v.bytes, v.deadline, true, true)
	delete(w.ram, string(key))
	if ok {
		w.took(key)
	}
	return ok
}

// get reads a key from the tier if RAM has it not, and judges what it finds.
func (w *world) get(key []byte) error {
	if _, ok := w.ram[string(key)]; ok {
		return nil
	}
	h := w.hasher.Hash(key)
	f, err := w.tier.Get(context.Background(), nil, key, h)
	if err != nil {
		return nil // a miss
	}
	seq, err := seqOf(key, f.Value)
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	if want := w.acked[string(key)]; seq < want {
		return fmt.Errorf("%s: stale: version %d, and %d was acknowledged", key, seq, want)
	}
	if seq > w.seq {
		return fmt.Errorf("%s: version %d, and the last was %d", key, seq, w.seq)
	}
	if f.Deadline != 0 && f.Deadline <= w.now.Load() {
		return fmt.Errorf("%s: expired at %d, and it is %d", key, f.Deadline, w.now.Load())
	}
	w.hits++
	if w.rng.IntN(2) == 0 && w.tier.Holds(h, f.Token) {
		w.ram[string(key)] = value{f.Value, f.Deadline}
	}
	return nil
}

// step does something at random.
func (w *world) step(keys int) error {
	key := w.key(w.rng.IntN(keys))
	switch n := w.rng.IntN(20); {
	case n < 7:
		deadline := int64(0)
		if w.rng.IntN(4) == 0 {
			deadline = w.now.Load() + 1 + w.rng.Int64N(1000)
		}
		w.set(key, deadline)
	case n < 8:
		w.delete(key)
	case n < 15:
		for k := range w.ram {
			w.demote([]byte(k))
			break
		}
	case n < 16:
		w.now.Add(w.rng.Int64N(20))
	default:
		return w.get(key)
	}
	return nil
}

// checkAll reads every key.
func (w *world) checkAll(keys int) error {
	for i := range keys {
		if err := w.get(w.key(i)); err != nil {
			return err
		}
	}
	return nil
}

// crashed is the world after its process died: only the files are left.
func (w *world) crashed() { w.ram = map[string]value{} }

// heirIn is heir for another test, a part of w's.
func (w *world) heirIn(t *testing.T) *world {
	h := w.heir()
	h.log, h.opened = logOf(t), new(opened)
	t.Cleanup(h.opened.close)
	return h
}

// heir is a world that knows what was acknowledged so far, and has no tier. It
// may be asked for while another goroutine drives w.
func (w *world) heir() *world {
	w.mu.Lock()
	defer w.mu.Unlock()
	h := &world{log: w.log, opened: w.opened, rng: rand.New(rand.NewPCG(1, 1)), ram: map[string]value{}, acked: maps.Clone(w.acked), there: maps.Clone(w.there), seq: w.seq + 1<<20, most: w.most}
	h.now.Store(w.now.Load())
	return h
}

// reopen makes w what comes after its process died, with these files.
func (w *world) reopen(t testing.TB, cfg Config) {
	t.Helper()
	w.crashed()
	if err := w.open(cfg); err != nil {
		t.Fatal(err)
	}
}

// killed is the world of the process that comes after w's was killed at this
// moment, with these files. w goes on.
func (w *world) killed(t testing.TB, files *vfstest.Mem, config func(vfs.FS, *world) Config) *world {
	t.Helper()
	h := w.heir()
	h.reopen(t, config(files.CrashClone(nil, vfstest.Kill), h))
	return h
}

// checkKilled reads every key after a kill at this moment, and wants a value for
// some if want is set.
func (w *world) checkKilled(t testing.TB, files *vfstest.Mem, config func(vfs.FS, *world) Config, keys int, want bool) {
	t.Helper()
	h := w.killed(t, files, config)
	h.check(t, keys, want)
	h.close(t)
}

// reopenAtRest is reopen that keeps the tier from reclaiming until close: what is
// there then is what was found.
func (w *world) reopenAtRest(t testing.TB, cfg Config) {
	t.Helper()
	w.crashed()
	tier, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	w.tier, w.hasher, w.atRest = tier, record.NewHasher(tier.Seed()), true
	w.opened.add(tier, true)
	tier.restarting.Lock()
	if err := tier.Start(func(int64) error { return nil }); err != nil {
		t.Fatal(err)
	}
}

// kept is how many records there are once there is nothing to reclaim.
func (w *world) kept() int {
	for w.tier.makeRoom() {
	}
	return w.tier.Len()
}

func (w *world) close(t testing.TB) {
	t.Helper()
	if w.atRest {
		w.atRest = false
		w.tier.restarting.Unlock()
		w.opened.add(w.tier, false)
	}
	if err := w.tier.Close(); err != nil {
		t.Fatal(err)
	}
	w.tier.Free()
	w.opened.remove(w.tier)
}

// missing are the keys that the tier took over and has no more. What it finds must
// be the version that it took.
func (w *world) missing(t testing.TB) (keys []string) {
	t.Helper()
	for key, want := range w.there {
		f, err := Found{}, ErrChanged
		for errors.Is(err, ErrChanged) { // it is moved meanwhile
			f, err = w.tier.Get(context.Background(), nil, []byte(key), w.hasher.Hash([]byte(key)))
		}
		if err != nil {
			keys = append(keys, key)
			continue
		}
		if seq, err := seqOf([]byte(key), f.Value); err != nil || seq != want {
			t.Fatalf("%s: version %d, %v; want %d", key, seq, err, want)
		}
	}
	return keys
}

// steps takes so many random steps.
func (w *world) steps(t testing.TB, n, keys int) {
	t.Helper()
	for i := range n {
		if err := w.step(keys); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
	}
}

// check reads every key, and wants a value for some if want is set.
func (w *world) check(t testing.TB, keys int, want bool) {
	t.Helper()
	before := w.hits
	if err := w.checkAll(keys); err != nil {
		t.Fatal(err)
	}
	if want && w.hits == before {
		t.Fatalf("nothing is found: %+v", w.tier.Stats())
	}
}

// written waits until the log has been handed to the file system as far as it
// was appended.
func (w *world) written() { w.tier.log.flushTo(w.tier.log.tail.Load()) }

func TestSetDemoteGet(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, 1)
		fs := vfstest.NewMem()
		if err := w.open(testConfig(fs, w)); err != nil {
			t.Fatal(err)
		}
		key := w.key(1)
		w.set(key, 0)
		want := w.ram[string(key)].bytes
		if !w.demote(key) {
			t.Fatal("not demoted")
		}
		for range 2 { // from memory, and from the file
			f, err := w.tier.Get(context.Background(), nil, key, w.hasher.Hash(key))
			if err != nil || string(f.Value) != string(want) {
				t.Fatalf("Get: %x, %v; want %x", f.Value, err, want)
			}
			if err := w.tier.Close(); err != nil {
				t.Fatal(err)
			}
			if err := w.open(testConfig(fs, w)); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.tier.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// Random operations over several turns of the log, closed and opened now and
// then.
func TestModel(t *testing.T) {
	bubble(t, func(t *testing.T) {
		for seed := range uint64(sized(1, 4)) {
			w := newWorld(t, seed)
			fs := vfstest.NewMem()
			if err := w.open(testConfig(fs, w)); err != nil {
				t.Fatal(err)
			}
			const keys = 2000
			for step := range 20_000 {
				if err := w.step(keys); err != nil {
					t.Fatalf("seed %d, step %d: %v", seed, step, err)
				}
				if step%5000 == 4999 {
					if err := w.tier.Close(); err != nil {
						t.Fatal(err)
					}
					w.crashed()
					if err := w.open(testConfig(fs, w)); err != nil {
						t.Fatal(err)
					}
					before := w.hits
					if err := w.checkAll(keys); err != nil {
						t.Fatalf("seed %d, step %d, reopened: %v", seed, step, err)
					}
					if w.hits == before {
						t.Fatalf("seed %d, step %d: nothing found after reopening: %+v", seed, step, w.tier.count.evicted.Load())
					}
				}
			}
			if err := w.tier.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// The process is killed at random, and what it leaves is opened again.
func TestKill(t *testing.T) {
	bubble(t, func(t *testing.T) {
		for seed := range uint64(sized(2, 20)) {
			w := newWorld(t, seed)
			fs := vfstest.NewMem()
			if err := w.open(testConfig(fs, w)); err != nil {
				t.Fatal(err)
			}
			const keys = 1500
			for life := range sized(4, 8) {
				for step := range 500 + w.rng.IntN(4000) {
					if err := w.step(keys); err != nil {
						t.Fatalf("seed %d, life %d, step %d: %v", seed, life, step, err)
					}
				}
				written := w.rng.IntN(2) == 0
				if written {
					w.tier.log.flushTo(w.tier.log.tail.Load())
				}
				clone := fs.CrashClone(w.rng, vfstest.Kill)
				old := w.tier // lives on over its own files
				w.crashed()
				if err := w.open(testConfig(clone, w)); err != nil {
					t.Fatalf("seed %d, life %d: %v", seed, life, err)
				}
				if err := old.Close(); err != nil {
					t.Fatal(err)
				}
				fs = clone
				before := w.hits
				if err := w.checkAll(keys); err != nil {
					t.Fatalf("seed %d, life %d, reopened: %v", seed, life, err)
				}
				if written && w.hits == before {
					t.Fatalf("seed %d, life %d: nothing found after a kill: %+v", seed, life, w.tier.count.evicted.Load())
				}
			}
			if err := w.tier.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// A tier's memory follows the RAM budget, however large its files are.
func TestMemoryOfLargeFiles(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, 1)
		cfg := testConfig(vfstest.NewMem(), w)
		cfg.Bytes, cfg.SegmentBytes, cfg.Memory = 64<<30, 0, 2<<20
		if err := w.open(cfg); err != nil {
			t.Fatal(err)
		}
		if n := w.tier.Stats().MemoryBytes; n > cfg.Memory/3 {
			t.Errorf("%d bytes of memory for a RAM budget of %d", n, cfg.Memory)
		}
		l := w.tier.log
		slots := int64(cap(l.slots))*int64(reflect.TypeFor[slot]().Size()) + int64(cap(l.free))*int64(reflect.TypeFor[int32]().Size()) + int64(len(l.slotWords))*int64(reflect.TypeFor[format.SlotWords]().Size())
		if n := slotMemory * int64(len(l.slots)); slots != n || n > cfg.Memory/32 {
			t.Errorf("slots take %d bytes of memory: %d are charged, of a RAM budget of %d", slots, n, cfg.Memory)
		}
		if err := w.tier.Close(); err != nil {
			t.Fatal(err)
		}
	})
}
