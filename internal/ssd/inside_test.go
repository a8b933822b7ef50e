package ssd

import (
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn/internal/inside"
	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// wantHealth wants a state for a reason that has these words, since a moment.
func (w *world) wantHealth(t *testing.T, want inside.State, since time.Time, words ...string) {
	t.Helper()
	s, why, at := w.tier.Health()
	if s != want || !at.Equal(since) {
		t.Errorf("%s since %v: want %s since %v (%q)", s, at, want, since, why)
	}
	for _, word := range words {
		if !strings.Contains(why, word) {
			t.Errorf("%s, %q: want %q in it", s, why, word)
		}
	}
	if len(words) == 0 && why != "" {
		t.Errorf("%s, %q: want no reason", s, why)
	}
}

var secondly = with(smallConfig, func(cfg *Config) { cfg.RetryInterval = time.Second })

// A disk that fails: a fault, off, tried again in vain, being tried, and on again.
func TestHealthOfFailingDisk(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, _, f := startedFaulty(t, 1, secondly)
		w.wantHealth(t, inside.Online, time.Time{})
		bad := f.Inject(vfstest.Rule{On: vfstest.OpWrite, Name: format.LogName, Err: syscall.EIO})
		for i := 0; w.tier.Stats().WriteErrors == 0; i++ {
			w.put(t, w.key(i))
			w.tier.log.FlushOpen()
			synctest.Wait()
		}
		w.wantHealth(t, inside.Online, time.Time{}, "0s ago: a segment could not be written: ", syscall.EIO.Error())
		for i := 0; w.tier.state.Load() == on; i++ {
			w.put(t, w.key(i))
			w.tier.log.FlushOpen()
			synctest.Wait()
		}
		off := time.Now()
		w.wantHealth(t, inside.Offline, off, "3 segments in a row could not be written: ", syscall.EIO.Error(), "up to 1m0s", "next in 1s")
		if _, why, _ := w.tier.Health(); strings.Contains(why, "last try") {
			t.Errorf("%q before the first try", why)
		}
		if m := w.tier.Segments(nil); len(m) != 0 {
			t.Errorf("a map of %d segments of a tier that is off", len(m))
		}
		time.Sleep(1500 * time.Millisecond)
		w.wantHealth(t, inside.Offline, off, "next in 2s", "the last try, 1s ago, failed: ", syscall.EIO.Error()) // rounded
		bad.Remove()
		slow := f.Inject(vfstest.Rule{On: vfstest.OpAllocate, Block: true})
		slow.AwaitBlocked(1)
		w.wantHealth(t, inside.Recovering, off, "being tried again", "3 segments")
		slow.Remove()
		w.untilOn()
		w.wantHealth(t, inside.Online, off.Add(3*time.Second), "it was off for 3s, and began empty: 3 segments")
		w.close(t)
		w.wantHealth(t, inside.Offline, time.Time{}, "closed")
	})
}

// A disk that takes nothing: how much waits, and since when.
func TestHealthOfStuckDisk(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, _, f := startedFaulty(t, 1, smallConfig)
		stuck := f.Inject(vfstest.Rule{On: vfstest.OpWrite, Name: format.LogName, Block: true})
		time.Sleep(time.Second)
		for i := 0; !w.tier.log.Stalled.Load(); i++ {
			w.set(w.key(i), 0)
			w.demote(w.key(i))
		}
		since := time.Now()
		time.Sleep(time.Minute)
		w.wantHealth(t, inside.Stalled, since, "the disk is behind", " KiB wait")
		if _, waits, _ := w.tier.log.WhenStalled(); waits < format.MinSegment || waits > segmentBuffers*format.MinSegment {
			t.Errorf("%d bytes wait: want about those of %d buffers of %d", waits, segmentBuffers, format.MinSegment)
		}
		stuck.Remove()
		w.settle()
		w.wantHealth(t, inside.Online, time.Time{})
		w.close(t)
	})
}

// A tier tells where its records come from, or why it has none, and that it found no space.
func TestHealthAfterOpen(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 20
		w, mem := filled(t, keys, secondly)
		h := w.killed(t, mem, secondly)
		h.wantHealth(t, inside.Online, time.Time{}, "20 records", "the memory that the last process left")
		h.close(t)
		w.restart(t, secondly(mem, w))
		w.wantHealth(t, inside.Online, time.Time{}, "20 records", "the index that Close saved")
		w.close(t)
		cfg := secondly(mem, w)
		cfg.Recovery = RecoverNever
		w.reopen(t, cfg)
		w.wantHealth(t, inside.Online, time.Time{}, "it starts empty: asked to")
		w.close(t)
		mem.SetQuota(1<<20 + 100<<10)
		cfg.Bytes = 4 << 20
		w.reopen(t, cfg)
		off := time.Now()
		synctest.Wait() // the loop of tries has begun
		w.wantHealth(t, inside.Offline, off, "no space", "next in 1s")
		w.close(t)
	})
}

// The map of the log says of each slot what the log does, and of the sealed ones what of
// their weight the index names.
func TestSegments(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, _, f := startedFaulty(t, 1, testConfig)
		empty := w.tier.Segments(nil)
		for _, b := range empty {
			if b != inside.SegmentFree {
				t.Fatalf("an empty log has %v", empty)
			}
		}
		w.fill(t, 400)
		w.settle()
		live := w.tier.Segments(empty[:0])
		if len(live) != len(w.tier.log.Slots) || &live[0] != &empty[0] {
			t.Fatalf("%d bytes for %d segments, in the buffer that was given: %v", len(live), len(w.tier.log.Slots), &live[0] == &empty[0])
		}
		wantSegments(t, w.tier, live, 0)
		for i := 0; i < 400; i += 2 {
			w.delete(w.key(i))
		}
		wantSegments(t, w.tier, w.tier.Segments(nil), 0)
		f.Inject(vfstest.Rule{On: vfstest.OpWrite, Name: format.LogName, Times: 2, Err: syscall.EIO})
		for i := 0; w.tier.Stats().Quarantined == 0; i++ {
			w.put(t, w.key(i))
			w.tier.log.FlushOpen()
			synctest.Wait()
		}
		wantSegments(t, w.tier, w.tier.Segments(nil), 1)
		w.close(t)
		if m := w.tier.Segments(nil); len(m) != 0 {
			t.Errorf("a map of %d segments of a closed tier", len(m))
		}
	})
}

// wantSegments compares a map with the entries of the index.
func wantSegments(t *testing.T, tier *Tier, m []byte, failing int) {
	t.Helper()
	alive := make([]float64, len(m))
	for _, e := range allEntries(tier.index) {
		slot, _ := tier.log.Place(tier.index.Location(e))
		alive[slot] += float64(tier.log.Weight(e.Class()))
	}
	count := map[byte]int{}
	for slot, b := range m {
		count[max(b, 100)]++
		if b > 100 {
			continue
		}
		share := 100 * alive[slot] / float64(tier.log.SlotWords[slot].Written.Load())
		if float64(b) < share || float64(b) >= share+1 {
			t.Errorf("segment %d: %d %% live, of entries %.2f", slot, b, share)
		}
	}
	if o := tier.log.Open; o != nil && m[o.Slot] != inside.SegmentOpen || o == nil && failing == 0 {
		t.Errorf("the open segment is none in %v", m)
	}
	if count[100] == 0 || count[inside.SegmentOpen] > 1+segmentBuffers || count[inside.SegmentFree] != tier.log.FreeSlots() || count[inside.SegmentFailing] != failing {
		t.Errorf("sealed, open, free, failing: %v; %d are free, want %d failing", count, tier.log.FreeSlots(), failing)
	}
}
