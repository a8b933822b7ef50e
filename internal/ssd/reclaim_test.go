package ssd

import (
	"fmt"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn/internal/ssd/files"
	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/ssd/log"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// Records are not lost while there is room: however often each key is written, what
// is alive is moved, and found.
func TestCleaningLosesNothing(t *testing.T) {
	t.Parallel()
	for _, fill := range []int{25, 50, 70} {
		inBubble(t, fmt.Sprint(fill, " % full"), func(t *testing.T) {
			w, _ := started(t, 1, testConfig)
			w.most = 1000
			keys := int(w.tier.logBytes) * fill / 100 / 530 // 500 bytes of value on the average, and what is around it
			w.fill(t, keys)
			for i := range 6 * keys {
				w.put(t, w.key(w.rng.IntN(keys)))
				if i%keys == 0 {
					w.settle()
				}
			}
			s := w.tier.Stats()
			if lost := len(w.missing(t)); lost > 0 || s.Evicted > 0 || s.IndexFull > 0 || s.Reinserted == 0 || s.Reclaimed < 10 {
				t.Errorf("%d of %d records are not found: %+v", lost, keys, s)
			}
			if s := w.tier.Stats(); s.Collisions > 0 || s.Corrupt > 0 {
				t.Errorf("%+v", s)
			}
			t.Logf("%d records moved for %d set, %d times no room", s.Reinserted, 7*keys, s.Dropped)
			w.close(t)
		})
	}
}

// All yields what is there from beginning to end, though cleaning moves it meanwhile.
func TestAllWhileCleaning(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, _ := started(t, 1, testConfig)
		w.most = 1000
		keys := int(w.tier.logBytes) * 7 / 10 / 530
		w.fill(t, keys)
		rewrite := func(n int) { // every other key
			for range n {
				w.put(t, w.key(w.rng.IntN(keys/2)*2))
			}
			w.settle()
		}
		rewrite(keys / 2)
		yielded, moved := map[string]bool{}, w.tier.Stats().Reinserted
		w.tier.All(func(_ uint64, key, _ []byte) bool {
			if yielded[string(key)] = true; len(yielded) == keys/2 && moved == w.tier.Stats().Reinserted {
				rewrite(keys)
			}
			return true
		})
		left := 0
		for i := 1; i < keys; i += 2 {
			if !yielded[string(w.key(i))] {
				left++
			}
		}
		if moved = w.tier.Stats().Reinserted - moved; left > 0 || moved == 0 {
			t.Errorf("%d of %d records that stayed were left out, while %d moved", left, keys/2, moved)
		}
		w.close(t)
	})
}

// halfDead is a tier whose log is full, of small records half of which are dead. Its
// maintain loop reclaims nothing until it is told to.
func halfDead(t *testing.T) (w *world, mem *vfstest.Mem, f *vfstest.Faulty, keys int) {
	t.Helper()
	w, mem, f = startedFaulty(t, 1, smallConfig)
	w.ahead(0)
	w.most = 100
	noError(t, w.tier.memory.grow(256<<10))
	for refused := false; !refused; keys++ {
		key := w.key(keys)
		w.set(key, 0)
		if !w.demote(key) {
			w.settle()
			w.set(key, 0)
			refused = !w.demote(key)
		}
	}
	w.settle()
	if s := w.tier.Stats(); s.FreeSegments != 1 || s.IndexFull > 0 {
		t.Fatalf("the log is not full: %+v", s)
	}
	for i := 0; i < keys; i += 2 {
		w.delete(w.key(i))
	}
	return w, mem, f, keys
}

// What leaves RAM does not take the room that the records of a segment need which
// is being reclaimed.
func TestDemoteLeavesRoomForCleaning(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, _, f, keys := halfDead(t)
		more, tried := 0, 0
		reads := make(chan struct{}, 1) // one at a time does
		f.Inject(vfstest.Rule{On: vfstest.OpRead, Name: format.LogName, Hook: func(vfstest.Op) {
			reads <- struct{}{}
			defer func() { <-reads }()
			for w.tier.log.FreeSlots() == 0 { // demote as much as is taken
				tried++
				key := w.key(keys + more)
				w.set(key, 0)
				if !w.demote(key) {
					break
				}
				more++
			}
		}})
		w.ahead(4)
		if s := w.tier.Stats(); s.FreeSegments < 4 || s.Evicted > 0 || tried == 0 {
			t.Errorf("%d records evicted, and half of the log is dead; %d segments free", s.Evicted, s.FreeSegments)
		}
		w.wantAll(t)
		w.close(t)
	})
}

// TestBadBlockWhileCleaning: a segment is reclaimed of which a block cannot be read. That costs
// the records with bytes there, which are counted; the others are moved.
func TestBadBlockWhileCleaning(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, _, f, _ := halfDead(t)
		const bad = format.MinSegment / 8
		first := int64(-1) // the segment that is reclaimed first
		broken := func(op vfstest.Op) bool {
			from := op.Off &^ (format.MinSegment - 1)
			if op.Off > from+bad || op.Off+op.Len <= from+bad || first >= 0 && from != first {
				return false
			}
			first = from
			return true
		}
		f.Inject(vfstest.Rule{On: vfstest.OpRead, Name: format.LogName, Match: broken, Err: syscall.EIO})
		w.ahead(4)
		block := int64(w.tier.logFile.Align())
		lost := w.missing(t)
		if most := int(block)/40 + 2; len(lost) == 0 || len(lost) > most {
			t.Errorf("%d records are lost, want 1 to %d: as many as have bytes in a block", len(lost), most)
		}
		if s := w.tier.Stats(); s.ReadErrors != uint64(len(lost)) || !s.Online || s.FreeSegments < 4 {
			t.Errorf("%+v", s)
		}
		w.close(t)
	})
}

// TestBadListWhileCleaning: a segment is reclaimed whose list cannot be read. That costs its
// records.
func TestBadListWhileCleaning(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, _, f, keys := halfDead(t)
		list := func(op vfstest.Op) bool { return op.Off%format.MinSegment >= format.MinSegment-2*files.BlockBytes }
		f.Inject(vfstest.Rule{On: vfstest.OpRead, Name: format.LogName, Match: list, Err: syscall.EIO, Times: 1})
		w.ahead(4)
		if n, most := len(w.missing(t)), keys/14; n < 2 || n > most {
			t.Errorf("%d records are lost, want 2 to %d: those of a segment", n, most)
		}
		if s := w.tier.Stats(); s.ReadErrors != 1 || !s.Online || s.FreeSegments < 4 {
			t.Errorf("%+v", s)
		}
		w.close(t)
	})
}

// Row 16: the disk does nothing while a segment is reclaimed. When it goes on, so does
// the reclaiming, and nothing is lost.
func TestFault16StuckWhileCleaning(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, _, f, _ := halfDead(t)
		stuck := f.Inject(vfstest.Rule{On: vfstest.OpWrite, Name: format.LogName, Block: true})
		w.ahead(5)
		time.Sleep(w.tier.cfg.StallTimeout)
		stuck.AwaitBlocked(1)
		w.wantAll(t)
		if n := w.tier.log.FreeSlots(); n >= 5 {
			t.Errorf("%d slots are free: the test shows nothing", n)
		}
		stuck.Remove()
		w.ahead(5)
		if lost := w.missing(t); len(lost) > 0 || w.tier.Stats().Evicted > 0 {
			t.Errorf("%d records are lost: %+v", len(lost), w.tier.Stats())
		}
		if n := w.tier.log.FreeSlots(); n < 5 {
			t.Errorf("%d slots are free: the reclaiming does not go on", n)
		}
		w.close(t)
	})
}

// Where the day's writes are spent, nothing is moved. Segments of which all is dead
// are freed all the same, before anything that is alive has to go.
func TestDeadSegmentsAreFreedWithoutWrites(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, _, _, keys := halfDead(t)
		for i := range keys / 2 {
			w.delete(w.key(keys/2 + i))
		}
		synctest.Wait()
		w.tier.admission.Budget.Init(1, w.tier.Now)
		w.tier.admission.Budget.Wrote(1 << 40)
		w.ahead(4)
		if s := w.tier.Stats(); s.FreeSegments < 4 || s.Evicted > 0 {
			t.Errorf("%d segments are free, %d records were evicted", s.FreeSegments, s.Evicted)
		}
		w.close(t)
	})
}

// A record that was appended counts as alive before the index names it: its segment
// may be full and written by then, with all else in it dead, and is not given back.
func TestAppendedIsAliveBeforeItIsNamed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, _ := started(t, 1, testConfig)
		key := w.key(0)
		x := w.tier.ids.Of(w.hasher.Hash(key))
		s := w.tier.index.ShardOf(x)
		s.Mu.Lock() // as Demote holds it
		r := format.Record{Key: key, Value: []byte("value")}
		loc, size, ok := w.tier.log.Append(x, &r, log.ForDemote)
		if !ok {
			t.Fatal("no room")
		}
		slot, _ := w.tier.log.Place(loc)
		w.tier.log.Mu.Lock()
		w.tier.log.Seal()
		w.tier.log.Mu.Unlock()
		synctest.Wait()
		if v, ok := w.tier.log.ChooseVictim(false); !ok || v.Slot != slot || v.Share == 0 {
			t.Errorf("to be reclaimed: %+v, %v: want slot %d, which is not dead", v, ok, slot)
		}
		s.Put(s.NewEntry(x, loc, size, format.IsWhole))
		s.Mu.Unlock()
		w.close(t)
	})
}
