package ssd

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// Row 16: writes of the log are stuck. Reads of what is in memory, writes and
// demotions go on, what is demoted is bounded, and Close does not wait for ever.
func TestFault16StuckWrites(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 500
		w, mem, f := startedFaulty(t, 1, hurried)
		stuck := f.Inject(vfstest.Rule{On: vfstest.OpWrite, Name: format.LogName, Block: true})
		taken := 0
		for i := range keys {
			w.set(w.key(i), 0)
			if w.demote(w.key(i)) {
				taken++
			}
		}
		s := w.tier.Stats()
		if s.Dropped == 0 || taken == 0 {
			t.Fatalf("%d demoted, %d shed: want both", taken, s.Dropped)
		}
		if most := uint64(segmentBuffers * format.MinSegment); s.DemotedBytes > most {
			t.Fatalf("%d bytes demoted: want no more than the buffers, %d", s.DemotedBytes, most)
		}
		w.check(t, keys, true)
		if w.tier.AwaitRoom() {
			t.Fatal("AwaitRoom says that there is room")
		}
		wantErr(t, w.tier.Close(background), errStalled)
		w.checkKilled(t, mem, testConfig, keys, false)
		stuck.Remove()
	})
}

// Row 16: a read that is stuck ends with its context; others, of what is in
// memory, are not held up.
func TestFault16StuckReads(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, f := onDisk(t, 20, testConfig)
		w.put(t, w.key(100))
		stuck := f.Inject(vfstest.Rule{On: vfstest.OpRead, Name: format.LogName, Block: true})
		ctx, cancel := context.WithCancel(background)
		var group sync.WaitGroup
		for i := range 10 {
			group.Go(func() {
				_, err := w.tier.Get(ctx, nil, w.key(i), w.hasher.Hash(w.key(i)))
				wantErr(t, err, context.Canceled)
			})
		}
		group.Go(func() { w.many(ctx, 10, 20, func(err error) { wantErr(t, err, context.Canceled) }) })
		stuck.AwaitBlocked(20)
		wantErr(t, w.getKey(100), nil)
		w.delete(w.key(1)) // its read must not find it any more
		cancel()
		group.Wait()
		if s := w.tier.Stats(); s.ReadErrors != 0 || !s.Online {
			t.Fatalf("what the caller gave up counts as an error of the disk: %+v", s)
		}
		stuck.Remove()
		w.close(t)
	})
}

// Row 16: a slow disk makes nothing wrong.
func TestFault16Slow(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 100
		w, mem, f := startedFaulty(t, 1, smallConfig)
		f.Inject(vfstest.Rule{On: vfstest.OpRead | vfstest.OpWrite, Name: format.LogName, Delay: 2 * time.Millisecond})
		w.steps(t, 1000, keys)
		w.checkKilled(t, mem, smallConfig, keys, false)
		w.close(t)
	})
}

// Clear is done when it returns, whatever the disk does, and nothing of before comes
// back after a kill, or Close.
func TestFault16ClearWhileStuck(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 300
		w, mem, f := startedFaulty(t, 1, testConfig)
		w.fill(t, keys)
		w.settle()
		stuck := f.Inject(vfstest.Rule{On: vfstest.OpChange, Block: true})
		for i := range 20 {
			w.set(w.key(i), 0)
			w.demote(w.key(i))
		}
		w.tier.log.FlushOpen()
		stuck.AwaitBlocked(1)
		began := time.Now()
		w.tier.Clear()
		if took := time.Since(began); took > 0 {
			t.Errorf("Clear took %v", took)
		}
		w.there, w.ram = map[string]uint64{}, map[string]value{}
		for i := range keys {
			w.acked[string(w.key(i))] = w.seq + 1
		}
		h := w.killed(t, mem, testConfig)
		h.wantLen(t, 0)
		h.check(t, keys, false)
		h.close(t)
		stuck.Remove()
		w.seq += 2
		w.put(t, w.key(1))
		w.settle()
		h = w.killed(t, mem, testConfig)
		h.wantLen(t, 1)
		h.close(t)
		for i := range w.tier.log.Slots {
			if n := w.tier.log.Slots[i].Alive.Load(); n < 0 || n > 1<<12 {
				t.Errorf("slot %d: weight %d alive", i, n)
			}
		}
		w.restart(t, testConfig(mem, w))
		w.check(t, keys, true)
		w.close(t)
	})
}

// Row 16: a read that takes longer than Config.ReadTimeout is not waited for. That
// is no error of the disk.
func TestFault16ReadTimeout(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys, timeout = 40, 3 * time.Second
		w, f := onDisk(t, keys, with(testConfig, func(cfg *Config) { cfg.ReadTimeout = timeout }))
		stuck := f.Inject(vfstest.Rule{On: vfstest.OpRead, Name: format.LogName, Block: true})
		began := time.Now()
		var group sync.WaitGroup
		group.Go(func() { wantErr(t, w.getKey(0), ErrTimeout) })
		group.Go(func() { w.many(background, 1, 20, func(err error) { wantErr(t, err, ErrTimeout) }) })
		group.Wait()
		if took := time.Since(began); took != timeout {
			t.Errorf("the reads took %v, want %v", took, timeout)
		}
		wantErr(t, w.getKey(20), ErrBusy) // it has not moved for a timeout
		s := w.tier.Stats()
		if s.ReadErrors != 0 || !s.Online || s.Reads.Timeouts != 20 || s.Reads.Abandoned != 20 {
			t.Errorf("on: %v, %d read errors, %d timeouts, %d abandoned: want none, 20 and 20", s.Online, s.ReadErrors, s.Reads.Timeouts, s.Reads.Abandoned)
		}
		stuck.Remove()
		synctest.Wait()
		w.wantKeys(t, keys, nil)
		w.close(t)
	})
}

// Row 16: a stuck disk is not asked any more, for good, but for a read in a while.
func TestFault16SilentDisk(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 40
		w, f := onDisk(t, keys, testConfig)
		stuck := f.Inject(vfstest.Rule{On: vfstest.OpRead, Name: format.LogName, Block: true})
		var group sync.WaitGroup
		group.Go(func() { wantErr(t, w.getKey(0), nil) })
		stuck.AwaitBlocked(1)
		time.Sleep(silence)
		group.Go(func() { _ = w.getKey(1) })
		synctest.Wait()
		w.wantKeys(t, keys, ErrBusy)
		w.many(background, 0, keys, func(err error) { wantErr(t, err, ErrBusy) })
		if s := w.tier.Stats(); stuck.Hits() != 2 || s.Reads.Refused != 2*keys || !s.Online {
			t.Errorf("%d reads were begun, want 2; %+v", stuck.Hits(), s)
		}
		stuck.Remove()
		group.Wait()
		w.wantKeys(t, keys, nil)
		w.close(t)
	})
}

// Row 16: those who wait for a slow disk are bounded; who comes then gets nothing,
// at once. What the tier reads for itself waits its turn.
func TestFault16ReadsRefused(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys, depth, more = 40, 2, 100
		w, f := onDisk(t, keys, with(testConfig, func(cfg *Config) { cfg.Depth = depth }))
		stuck := f.Inject(vfstest.Rule{On: vfstest.OpRead, Name: format.LogName, Block: true})
		answers := make(chan error, 2*minCallers)
		for i := range depth + minCallers + more {
			go func() { answers <- w.getKey(i % keys) }()
		}
		synctest.Wait()
		if len(answers) != more || stuck.Hits() != depth {
			t.Errorf("%d calls have ended, and %d reads were begun: want %d and %d", len(answers), stuck.Hits(), more, depth)
		}
		for range len(answers) {
			wantErr(t, <-answers, ErrBusy)
		}
		listed := make(chan int)
		go func() {
			n := 0
			w.tier.All(func(uint64, []byte, []byte) bool { n++; return true })
			listed <- n
		}()
		synctest.Wait()
		stuck.Remove()
		for range depth + minCallers {
			wantErr(t, <-answers, nil)
		}
		if n := <-listed; n != keys {
			t.Errorf("All found %d records of %d", n, keys)
		}
		w.close(t)
	})
}
