package ssd

import (
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn/internal/record"
	"github.com/firncache/firn/internal/registry"
	"github.com/firncache/firn/internal/ssd/log"
	"github.com/firncache/firn/internal/vfs"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// world is a tier with the least that can stand above it: a map for RAM, whose
// owner tells the tier what the real one would, and what each key's last
// acknowledged write was. One goroutine drives it.
type world struct {
	rng     *rand.Rand
	tier    *Tier
	hasher  record.Hasher
	ram     map[string]value
	mu      sync.Mutex        // of acked, there and seq, which a crash copies
	acked   map[string]uint64 // sequence number of the last acknowledged write; odd: a delete
	there   map[string]uint64 // that of what the tier took over, and no write has superseded since
	seq     uint64
	now     atomic.Int64
	most    int // longest value
	hits    int // found in the tier
	atRest  bool
	spaces  map[registry.ID]uint64 // generations of namespaces, as acknowledged
	cleared map[uint64]bool        // those that were replaced
	notes   [][]byte               // of tags that were invalidated since
	log     io.Writer
	opened  *opened
}

type value struct {
	bytes    []byte
	deadline int64
}

const startOfTime = 1_000_000

func newWorld(t testing.TB, seed uint64) *world {
	w := &world{log: logOf(t), opened: new(opened), rng: rand.New(rand.NewPCG(seed, 1)), ram: map[string]value{}, acked: map[string]uint64{}, there: map[string]uint64{}, most: 3000,
		spaces: map[registry.ID]uint64{}, cleared: map[uint64]bool{}}
	w.now.Store(startOfTime)
	t.Cleanup(w.opened.close)
	return w
}

func testConfig(fs vfs.FS, w *world) Config {
	return Config{
		FS: fs, Bytes: 2 << 20, SegmentBytes: 64 << 10, Memory: 1 << 20, Admission: AdmitAll,
		Now: func() int64 { return w.now.Load() }, Log: slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelWarn})),
		BootID: func() string { return "boot" },
	}
}

// smallConfig is a tier of a few segments, which are soon written over.
func smallConfig(fs vfs.FS, w *world) Config {
	cfg := testConfig(fs, w)
	cfg.Bytes = 1 << 20
	return cfg
}

// retryingConfig is a small tier that tries again soon after it was switched off.
var retryingConfig = with(smallConfig, func(cfg *Config) { cfg.RetryInterval = time.Millisecond })

// rebooted is smallConfig after the machine went down.
var rebooted = inBoot(smallConfig, "another boot")

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
		_ = t.Close(background)
		t.Free()
		w.opened.remove(t)
		w.tier = nil
		return err
	}
	return w.findRegistry()
}

// findRegistry compares the registry that a tier found with what was acknowledged.
func (w *world) findRegistry() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.tier.Registry()
	for _, note := range w.notes {
		if judged(r, note) == registry.Holds {
			return fmt.Errorf("the note %x holds, of which the tag was invalidated", note)
		}
	}
	if s := w.tier.source; s != fromMemory && s != fromSnapshot || s == fromSnapshot && r.Clock() == 0 && (w.tier.Len() == 0 || w.tier.count.corrupt.Load() > 0) {
		clear(w.spaces) // lost with the index
		return nil
	}
	for id := range w.spaces {
		if g := r.Generation(id); w.cleared[g] {
			return fmt.Errorf("the generation of %x is %d, which was cleared", id, g)
		}
	}
	return nil
}

// bump clears one of some namespaces, or invalidates one of some tags.
func (w *world) bump(i int) {
	r, name := w.tier.Registry(), string(w.key(i%10))
	if i%2 == 0 {
		tag := registry.TagOf("n", name)
		note := r.AppendNote(nil, r.Clock(), []registry.ID{tag})
		r.Invalidate(tag)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.notes = append(w.notes, note)
		return
	}
	id := registry.IDOf(registry.Namespace, name)
	before := r.Generation(id)
	after := r.Clear(id)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cleared[before] = true
	w.spaces[id] = after
}

// reopen makes w what comes after its process died, with these files.
func (w *world) reopen(t testing.TB, cfg Config) {
	t.Helper()
	w.crashed()
	noError(t, w.open(cfg))
}

// restart closes the tier, and opens it again.
func (w *world) restart(t testing.TB, cfg Config) {
	t.Helper()
	w.close(t)
	w.reopen(t, cfg)
}

// reopenAtRest is reopen that keeps the tier from reclaiming until close: what is
// there then is what was found.
func (w *world) reopenAtRest(t testing.TB, cfg Config) {
	t.Helper()
	w.crashed()
	tier := mustOpen(t, cfg)
	w.tier, w.hasher, w.atRest = tier, record.NewHasher(tier.Seed()), true
	w.opened.add(tier, true)
	tier.restarting.Lock()
	noError(t, tier.Start(func(int64) error { return nil }))
	noError(t, w.findRegistry())
}

func (w *world) close(t testing.TB) {
	t.Helper()
	if w.atRest {
		w.atRest = false
		w.tier.restarting.Unlock()
		w.opened.add(w.tier, false)
	}
	noError(t, w.tier.Close(background))
	w.tier.Free()
	w.opened.remove(w.tier)
}

// with is a configuration with a change.
func with(config func(vfs.FS, *world) Config, change func(cfg *Config)) func(vfs.FS, *world) Config {
	return func(fs vfs.FS, w *world) Config {
		cfg := config(fs, w)
		change(&cfg)
		return cfg
	}
}

// inBoot is a configuration in another boot of the machine.
func inBoot(config func(vfs.FS, *world) Config, id string) func(vfs.FS, *world) Config {
	return with(config, func(cfg *Config) { cfg.BootID = func() string { return id } })
}

// started is a world with a tier over no files.
func started(t testing.TB, seed uint64, config func(vfs.FS, *world) Config) (*world, *vfstest.Mem) {
	t.Helper()
	w, mem := newWorld(t, seed), vfstest.NewMem()
	w.reopen(t, config(mem, w))
	return w, mem
}

// startedFaulty is started on a disk that can fail.
func startedFaulty(t testing.TB, seed uint64, config func(vfs.FS, *world) Config) (*world, *vfstest.Mem, *vfstest.Faulty) {
	t.Helper()
	w, mem := newWorld(t, seed), vfstest.NewMem()
	f := vfstest.NewFaulty(mem)
	w.reopen(t, config(f, w))
	return w, mem, f
}

func mustOpen(t testing.TB, cfg Config) *Tier {
	t.Helper()
	tier, err := Open(cfg)
	noError(t, err)
	return tier
}

// startCharging starts a tier over what the files hold, which asks charge for its
// memory.
func (w *world) startCharging(t testing.TB, cfg Config, charge func(n int64) error) *Tier {
	t.Helper()
	tier := mustOpen(t, cfg)
	w.opened.add(tier, false)
	w.tier, w.hasher = tier, record.NewHasher(tier.Seed())
	noError(t, tier.Start(charge))
	return tier
}

// end ends the tier, and returns the files as that leaves them.
func (w *world) end(t testing.TB, mem *vfstest.Mem, how ending) *vfstest.Mem {
	t.Helper()
	left := mem
	if how == killed {
		left = mem.CrashClone(nil, vfstest.Kill)
	}
	w.close(t)
	return left
}

// heirOf is an heir with a tier over these files.
func (w *world) heirOf(t testing.TB, fs vfs.FS, config func(vfs.FS, *world) Config) *world {
	t.Helper()
	h := w.heir()
	h.reopen(t, config(fs, h))
	return h
}

// heirAtRest is heirOf, of a tier that does not reclaim.
func (w *world) heirAtRest(t testing.TB, fs vfs.FS, config func(vfs.FS, *world) Config) *world {
	t.Helper()
	h := w.heir()
	h.reopenAtRest(t, config(fs, h))
	return h
}

// crashed is the world after its process died: only the files are left.
func (w *world) crashed() { w.ram = map[string]value{} }

// An ending is how the files that a test damages were left.
type ending string

const (
	killed   ending = "killed"
	closing  ending = "closed"
	reopened ending = "killed soon after it was opened"
)

// heir is a world that knows what was acknowledged so far, and has no tier. It
// may be asked for while another goroutine drives w.
func (w *world) heir() *world {
	w.mu.Lock()
	defer w.mu.Unlock()
	h := &world{log: w.log, opened: w.opened, rng: rand.New(rand.NewPCG(1, 1)), ram: map[string]value{}, acked: maps.Clone(w.acked), there: maps.Clone(w.there), seq: w.seq + 1<<20, most: w.most,
		spaces: maps.Clone(w.spaces), cleared: maps.Clone(w.cleared), notes: slices.Clone(w.notes)}
	h.now.Store(w.now.Load())
	return h
}

// heirIn is heir for another test, a part of w's.
func (w *world) heirIn(t *testing.T) *world {
	h := w.heir()
	h.log, h.opened = logOf(t), new(opened)
	t.Cleanup(h.opened.close)
	return h
}

// killed is the world of the process that comes after w's was killed at this
// moment, with these files. w goes on.
func (w *world) killed(t testing.TB, files *vfstest.Mem, config func(vfs.FS, *world) Config) *world {
	t.Helper()
	return w.heirOf(t, files.CrashClone(nil, vfstest.Kill), config)
}

// checkKilled reads every key after a kill at this moment, and wants a value for
// some if want is set.
func (w *world) checkKilled(t testing.TB, files *vfstest.Mem, config func(vfs.FS, *world) Config, keys int, want bool) {
	t.Helper()
	h := w.killed(t, files, config)
	h.check(t, keys, want)
	h.close(t)
}

// written waits until the log has been handed to the file system as far as it
// was appended.
func (w *world) written() { w.tier.log.FlushTo(w.tier.log.Tail.Load()) }

// settle waits until the tier's goroutines have done what there is to do, and has
// the log written as far as it goes.
func (w *world) settle() {
	synctest.Wait()
	time.Sleep(2 * log.FlushEvery)
	synctest.Wait()
}

// kept is how many records there are once there is nothing to reclaim.
func (w *world) kept() int {
	for w.tier.makeRoom() {
	}
	return w.tier.Len()
}

// untilOn waits until the tier is on.
func (w *world) untilOn() {
	for w.tier.state.Load() != on {
		time.Sleep(time.Millisecond)
	}
}

// ahead sets how many slots the maintain loop keeps free, and waits until it has done so,
// or cannot.
func (w *world) ahead(slots int) {
	synctest.Wait()
	w.tier.log.FreeTarget = slots
	w.tier.work.wakeMaintenance()
	w.settle()
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
		_ = t.Close(background)
	}
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

// inTime fails the test if f does not return.
func inTime(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal(what + " does not return")
	}
}

// filled is a tier with so many records, all written.
func filled(t testing.TB, keys int, config func(vfs.FS, *world) Config) (*world, *vfstest.Mem) {
	t.Helper()
	w, mem := started(t, 1, config)
	w.fill(t, keys)
	w.settle()
	return w, mem
}

// OnDisk is a tier with so many records, all of them on the disk and none in
// memory.
func onDisk(t *testing.T, keys int, config func(vfs.FS, *world) Config) (*world, *vfstest.Faulty) {
	t.Helper()
	w, _, f := startedFaulty(t, 1, config)
	w.fill(t, keys)
	w.restart(t, config(f, w))
	return w, f
}

// settled is a world that has been driven for a while, with everything written,
// and what it left.
func settled(t *testing.T, seed uint64, keys int, end ending) (w *world, files *vfstest.Mem) {
	w = newWorld(t, seed)
	mem := vfstest.NewMem()
	w.reopen(t, smallConfig(mem, w))
	w.steps(t, 3000, keys)
	w.restart(t, smallConfig(mem, w))
	if end == reopened {
		w.steps(t, 40, keys)
	} else {
		w.steps(t, 300, keys)
	}
	w.written()
	files = mem.CrashClone(nil, vfstest.Kill)
	w.close(t)
	if end == closing {
		files = mem.CrashClone(nil, vfstest.Kill)
	}
	return w, files
}
