package ssd

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/firncache/firn/internal/record"
	"github.com/firncache/firn/internal/vfs"
)

// A large record whose header is damaged is one damaged record, not a disk that
// fails: it leaves the index, and the tier stays on.
func TestDamagedHeaderOfALargeRecord(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const size = 3 << 20
		w := newWorld(t, 1)
		mem := vfs.NewMem()
		cfg := testConfig(mem, w)
		cfg.Bytes, cfg.SegmentBytes, cfg.Memory = 64<<20, 4<<20, 64<<20
		w.reopen(t, cfg)
		w.most = 1
		for i := range 2 * buffers {
			w.put(t, w.key(i)) // the first segment begins with this one
			key := w.key(100 + i)
			hash := w.hasher.Hash(key)
			for !w.tier.Demote(hash, key, w.bytesOf(key, w.seq, size), 0, true) {
				w.tier.WaitRoom()
			}
			w.acked[string(key)] = w.seq
		}
		w.written()
		key := w.key(100)
		hash := w.hasher.Hash(key)
		sp, ok := w.tier.look(hash, false)
		if _, bounded := sp.entry.mostBytes(); !ok || bounded {
			t.Fatalf("found: %v; in a bounded class: %v", ok, bounded)
		}
		if w.tier.log.pin(sp.slot, sp.lsn>>w.tier.log.segShift) != nil {
			t.Fatal("the segment is still in memory")
		}
		edit(t, mem, logName, int64(sp.slot)<<w.tier.log.segShift+int64(sp.off), func(b []byte) { b[4] = 0xff }, 5)
		if _, err := w.tier.Get(background, nil, key, hash); err != errCorrupt {
			t.Fatalf("Get: %v", err)
		}
		for range 2 * mostBadReads {
			if _, err := w.tier.Get(background, nil, key, hash); err != ErrNotFound {
				t.Fatalf("Get: %v", err)
			}
		}
		if s := w.tier.Stats(); !s.On || s.Corrupt != 1 || s.ReadErrors != 0 {
			t.Errorf("on: %v, %d records damaged, %d read errors", s.On, s.Corrupt, s.ReadErrors)
		}
		if _, err := w.tier.Get(background, nil, w.key(101), w.hasher.Hash(w.key(101))); err != nil {
			t.Error(err)
		}
		w.close(t)
	})
}

// What is read ahead is sealed on the disk. When the recovery has ended, because
// the cache is cleared, nothing is written to slots that are free by then.
func TestClearWhileSealing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, 1)
		mem := vfs.NewMem()
		w.reopen(t, testConfig(mem, w))
		for i := range 200 {
			w.put(t, w.key(i))
		}
		w.written()
		files := mem.CrashClone(nil, vfs.Kill)
		w.close(t)
		for slot := range w.tier.log.slots { // no segment is sealed
			edit(t, files, logName, int64(slot+1)<<w.tier.log.segShift-trailerLen, func(b []byte) { clear(b) }, trailerLen)
		}
		f := vfs.NewFaulty(files)
		tier, err := Open(testConfig(f, w))
		if err != nil {
			t.Fatal(err)
		}
		w.tier = tier
		locks := func(f func(mu *sync.Mutex)) {
			for i := range tier.index.shards {
				f(&tier.index.shards[i].mu)
			}
		}
		f.Inject(vfs.Rule{On: vfs.OpWrite, Name: logName, Times: 1, Hook: func(vfs.Op) {
			locks((*sync.Mutex).Lock) // the first segment's records have to wait
		}})
		sealing := f.Inject(vfs.Rule{On: vfs.OpWrite, Name: logName, Skip: 1, Block: true})
		if err := tier.Start(func(int64) error { return nil }); err != nil {
			t.Fatal(err)
		}
		sealing.AwaitBlocked(1)
		tier.plan.stopped.Do(func() { close(tier.plan.stop) })
		locks((*sync.Mutex).Unlock)
		select {
		case <-tier.plan.done:
			t.Error("the recovery has ended and still writes")
		case <-time.After(50 * time.Millisecond):
		}
		sealing.Remove()
		if err := tier.Clear(); err != nil {
			t.Fatal(err)
		}
		w.close(t)
	})
}

// A fold of a journal that is as full as floors make it has room to end, however
// many segments were dropped.
func TestFoldWithAllDropped(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, 1)
		mem := vfs.NewMem()
		w.reopen(t, testConfig(mem, w))
		w.put(t, w.key(1))
		w.tier.restarting.Lock()
		j := w.tier.journal
		j.mu.Lock()
		for i := range uint64(mostDropped) {
			j.standing.add(note{kind: noteDrop, at: 1000 + i})
		}
		j.at, j.folded = j.area-last*noteLen, false
		j.mu.Unlock()
		folded := w.tier.fold()
		w.tier.restarting.Unlock()
		if !folded || w.tier.health.isOff() {
			t.Errorf("folded: %v; off: %v", folded, w.tier.health.isOff())
		}
		w.close(t)
	})
}

// A fold that goes on while a segment is being dropped repeats the note of that:
// the place where it stands may be written over before the next fold.
func TestFoldWhileDropping(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, 1)
		f := vfs.NewFaulty(vfs.NewMem())
		w.reopen(t, testConfig(f, w))
		held := f.Inject(vfs.Rule{On: vfs.OpWrite, Name: journalName, Block: true})
		done := make(chan error)
		go func() { done <- w.tier.journal.commitNow(note{kind: noteDrop, at: 7}) }()
		held.AwaitBlocked(1)
		if notes := w.tier.journal.stands(); !slices.Contains(notes, note{kind: noteDrop, at: 7}) {
			t.Errorf("a fold would note only %v", notes)
		}
		held.Remove()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		w.close(t)
	})
}

// A Clear that comes too late, when Close has saved what was to be cleared, does
// not pretend that it did anything.
func TestClearTooLate(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, 1)
		f := vfs.NewFaulty(vfs.NewMem())
		w.reopen(t, testConfig(f, w))
		late := f.Inject(vfs.Rule{On: vfs.OpWrite, Name: superBlockOf, Err: syscall.EBADF, Hook: func(vfs.Op) {
			w.tier.state.Store(closed) // as if Close had run since Clear looked
			w.tier.super.saved = true
		}})
		if err := w.tier.Clear(); err == nil {
			t.Error("Clear: no error")
		}
		late.Remove()
		w.tier.super.saved = false
		w.tier.state.Store(on)
		w.close(t)
	})
}

// A segment that could not be read, and was dropped alone, is no gap in what
// later recoveries look for: not even when its slot has another segment.
func TestDroppedSegmentIsNoGap(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 2000
		w := newWorld(t, 1)
		mem := vfs.NewMem()
		w.reopen(t, smallConfig(mem, w))
		i := 0
		for ; w.tier.Stats().Reclaimed == 0; i++ {
			w.put(t, w.key(i))
		}
		w.written()
		newest, _ := w.tier.log.place(w.tier.index.location(w.entryOf(t, w.key(i-1))))
		files := mem.CrashClone(nil, vfs.Kill)
		w.close(t)

		f := vfs.NewFaulty(files)
		base := int64(newest) << w.tier.log.segShift
		bad := f.Inject(vfs.Rule{On: vfs.OpRead, Name: logName, From: base + blockBytes, To: base + minSegment, Err: syscall.EIO})
		w.reopen(t, smallConfig(f, w))
		bad.Remove()
		for serial := w.tier.log.slots[newest].serial.Load(); w.tier.log.slots[newest].serial.Load() == serial; i++ {
			w.put(t, w.key(i))
		}
		w.tier.restarting.Lock()
		w.tier.journal.mu.Lock()
		w.tier.journal.folded = false
		w.tier.journal.mu.Unlock()
		if !w.tier.fold() {
			t.Error("not folded")
		}
		w.tier.restarting.Unlock()
		w.written()
		records := w.tier.Len()
		h := w.killed(t, files, smallConfig)
		if n := h.tier.Len(); n < records/2 { // a segment or two may have been reclaimed in one of the two
			t.Errorf("%d records after a kill, %d before", n, records)
		}
		h.check(t, keys, true)
		h.close(t)
		w.close(t)
	})
}

// entryOf is a key's entry in the index.
func (w *world) entryOf(t *testing.T, key []byte) entry {
	t.Helper()
	sp, ok := w.tier.look(w.hasher.Hash(key), false)
	if !ok {
		t.Fatalf("%s is not there", key)
	}
	return sp.entry
}

// A record that comes while the tombstone of its id is on its way, during a
// recovery, dies without making room for an older one.
func TestTombstoneDuringRecovery(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, 1)
		f := vfs.NewFaulty(vfs.NewMem())
		w.reopen(t, testConfig(f, w))
		key := w.key(1)
		w.put(t, key)
		w.close(t)
		if err := f.Remove(snapshotName); err != nil {
			t.Fatal(err)
		}
		tier, err := Open(testConfig(f, w))
		if err != nil {
			t.Fatal(err)
		}
		w.tier = tier
		reads := f.Inject(vfs.Rule{On: vfs.OpRead, Name: logName, Block: true})
		if err := tier.Start(func(int64) error { return nil }); err != nil {
			t.Fatal(err)
		}
		w.put(t, key)
		if !tier.settle([]id{tier.id(w.hasher.Hash(key))}, 0) {
			t.Fatal("not settled")
		}
		reads.Remove()
		w.recovered()
		w.check(t, 2, false)
		w.close(t)
	})
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

// handling is a handler of log lines that calls a function for each.
type handling func(what string)

func (h handling) Enabled(context.Context, slog.Level) bool { return true }
func (h handling) Handle(_ context.Context, r slog.Record) error {
	h(r.Message)
	return nil
}
func (h handling) WithAttrs([]slog.Attr) slog.Handler { return h }
func (h handling) WithGroup(string) slog.Handler      { return h }

// Row 33: a handler of log lines may use the cache.
func TestFault33LogHandlerUsesTheCache(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, 1)
		f := vfs.NewFaulty(vfs.NewMem())
		cfg := testConfig(f, w)
		var get func() error
		failed, told := make(chan error, 1), atomic.Int32{}
		cfg.Log = slog.New(handling(func(what string) {
			told.Add(1)
			if what == "firn: SSD tier: a read failed" {
				failed <- errors.Join(get(), w.tier.Clear())
			}
		}))
		w.reopen(t, cfg)
		key := w.key(1)
		w.put(t, key)
		for i := range 200 { // so that it is not in memory any more
			w.put(t, w.key(1000+i))
		}
		get = func() error {
			_, err := w.tier.Get(background, nil, key, w.hasher.Hash(key))
			return err
		}
		bad := f.Inject(vfs.Rule{On: vfs.OpRead, Name: logName, Err: syscall.EIO})
		inTime(t, "Get", func() { _ = get() })
		inTime(t, "the handler", func() { <-failed })
		bad.Remove()
		n := told.Load()
		w.close(t)
		if n == 0 {
			t.Error("nothing was logged")
		}
	})
}

// An iteration holds no segment in memory while the user looks at a record.
func TestAllHoldsNoSegment(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, 1)
		w.reopen(t, testConfig(vfs.NewMem(), w))
		for i := range 10 {
			w.put(t, w.key(i))
		}
		n := 0
		w.tier.All(func(_ uint64, key, value []byte) bool {
			if _, err := seqOf(key, value); err != nil {
				t.Errorf("%s: %v", key, err)
			}
			w.tier.log.mu.Lock()
			for _, s := range w.tier.log.memory {
				if s.pins != 0 {
					t.Errorf("segment %d is pinned", s.serial)
				}
			}
			w.tier.log.mu.Unlock()
			n++
			return true
		})
		if n != 10 {
			t.Errorf("%d records", n)
		}
		w.close(t)
	})
}

// Row 33: what leaves RAM because the index grows is reported to the user, whose
// answer may be a write that waits for the keeper.
func TestFault33GrowingWaitsForTheUser(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 4500
		w := newWorld(t, 1)
		w.most = 1
		tier, err := Open(testConfig(vfs.NewMem(), w))
		if err != nil {
			t.Fatal(err)
		}
		w.tier, w.hasher = tier, record.NewHasher(tier.Seed())
		var started atomic.Bool
		reporting, reported := make(chan struct{}), make(chan struct{})
		var once sync.Once
		err = tier.Start(func(int64) error {
			if started.Load() {
				once.Do(func() { close(reporting) })
				<-reported
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		started.Store(true)
		inTime(t, "growing", func() {
			for i := 0; ; i++ {
				select {
				case <-reporting:
					return
				default:
					_ = w.set(w.key(i%keys), 0)
					w.demote(w.key(i % keys))
				}
			}
		})
		inTime(t, "a write", func() {
			for turns := tier.journal.turns(); tier.journal.turns() < turns+3; {
				for i := range keys {
					_ = w.set(w.key(i), 0)
					w.demote(w.key(i))
				}
			}
		})
		close(reported)
		w.close(t)
	})
}

// Close makes room in a full journal for the notes that writes wait for.
func TestCloseWithFullJournal(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 3 * kept
		w := newWorld(t, 1)
		mem := vfs.NewMem()
		w.reopen(t, testConfig(mem, w))
		for i := range keys + 10 {
			w.put(t, w.key(i))
		}
		w.next()
		for i := range keys {
			w.tier.Superseded(w.hasher.Hash(w.key(i)))
		}
		w.tier.restarting.Lock() // the keeper folds nothing before Close
		j := w.tier.journal
		j.mu.Lock()
		j.at, j.folded = j.area-kept*noteLen, false
		j.mu.Unlock()
		w.tier.restarting.Unlock()
		w.close(t)
		for i := range keys {
			if err := w.tier.Commit(w.hasher.Hash(w.key(i))); err != nil {
				t.Fatal(err)
			}
			w.acked[string(w.key(i))] = w.seq
		}
		w.reopen(t, testConfig(mem, w))
		if n := w.tier.Len(); n != 10 {
			t.Errorf("%d records, want 10", n)
		}
		w.check(t, keys+10, true)
		w.close(t)
	})
}
