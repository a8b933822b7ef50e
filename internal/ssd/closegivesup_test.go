package ssd

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// Close gives up at each of its operations in turn, while the log is full and segments
// are reclaimed: nothing more begins, the files are as a kill leaves them, and what Lost
// counts is all, as the index was not saved.
func TestCloseGivesUpAnywhere(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 300
		for n := 0; ; n++ {
			w, mem, f := startedFaulty(t, 1, smallConfig)
			w.most = 2000
			w.steps(t, 2500, keys)
			ctx, cancel := context.WithCancel(background)
			returned := make(chan struct{})
			f.Inject(vfstest.Rule{On: vfstest.OpAny &^ vfstest.OpRemoveMemory, Skip: n, Times: 1, Hook: func(vfstest.Op) {
				cancel()
				<-returned
			}})
			err := w.tier.Close(ctx)
			there := w.tier.records()
			lost, bytes := w.tier.Lost()
			close(returned)
			synctest.Wait()
			wantNoOpenFiles(t, f)
			if err == nil {
				cancel()
				w.tier.Free()
				w.opened.remove(w.tier)
				if n < 8 {
					t.Fatalf("Close did %d operations: the test shows nothing", n)
				}
				return
			}
			wantErr(t, err, context.Canceled)
			h := w.heirAtRest(t, mem.CrashClone(nil, vfstest.Kill), smallConfig)
			if !w.tier.saved.Load() && int(lost) != there {
				t.Fatalf("operation %d: of %d records %d, of %d bytes, were said to be lost, and the index was not saved", n, there, lost, bytes)
			}
			h.check(t, keys, false)
			h.close(t)
			w.tier.Free()
			w.opened.remove(w.tier)
		}
	})
}

// A segment that is being reclaimed when Close gives up keeps its records: that they
// cannot be read any more is not the disk's fault.
func TestCloseGivesUpWhileReclaiming(t *testing.T) {
	t.Parallel()
	for name, skip := range map[string]int{"its trailer": 0, "its list": 1, "its records": 2} {
		inBubble(t, name, func(t *testing.T) {
			w, mem, f, _ := halfDead(t)
			w.tier.WriteAll() // a segment that is still in memory would be moved without a read
			before := w.tier.Len()
			stuck := f.Inject(vfstest.Rule{On: vfstest.OpRead, Name: format.LogName, Skip: skip, Block: true})
			w.tier.log.FreeTarget = 4
			w.tier.work.wakeMaintenance()
			stuck.AwaitBlocked(1)
			synctest.Wait()
			ctx, cancel := context.WithTimeout(background, time.Second)
			defer cancel()
			wantErr(t, w.tier.Close(ctx), context.DeadlineExceeded)
			synctest.Wait()
			stuck.Remove()
			synctest.Wait()
			h := w.heirAtRest(t, mem.CrashClone(nil, vfstest.Kill), smallConfig)
			h.wantLen(t, before)
			h.wantAll(t)
			h.close(t)
			w.tier.Free()
		})
	}
}

// What has been written of a segment is not given up with the rest of it.
func TestCloseGivesUpWithinSegment(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const written, more = 10, 5
		w, mem, f := startedFaulty(t, 1, testConfig)
		w.fill(t, written)
		w.settle()
		for i := range more {
			w.put(t, w.key(written+i))
		}
		stuck := f.Inject(vfstest.Rule{On: vfstest.OpWrite, Name: format.LogName, Block: true})
		ctx, cancel := context.WithTimeout(background, time.Second)
		defer cancel()
		wantErr(t, w.tier.Close(ctx), context.DeadlineExceeded)
		if lost, bytes := w.tier.Lost(); lost != written+more || bytes == 0 {
			t.Errorf("%d records of %d bytes are lost: want %d", lost, bytes, written+more)
		}
		stuck.Remove()
		synctest.Wait()
		wantNoOpenFiles(t, f)
		h := w.killed(t, mem, testConfig)
		h.wantLen(t, written+more) // the write that was under way has come back
		h.close(t)
		w.tier.Free()
	})
}

// The log is not void for a sync that was refused.
func TestCloseGivesUpBeforeTheSync(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const keys = 50
		w, mem, f := startedFaulty(t, 1, testConfig)
		w.fill(t, keys)
		synctest.Wait()
		stuck := f.Inject(vfstest.Rule{On: vfstest.OpWrite, Name: format.LogName, Match: isList, Block: true})
		ctx, cancel := context.WithTimeout(background, time.Second)
		defer cancel()
		wantErr(t, w.tier.Close(ctx), context.DeadlineExceeded)
		stuck.Remove()
		synctest.Wait()
		h := w.killed(t, mem, testConfig)
		h.wantLen(t, keys)
		h.close(t)
		w.tier.Free()
	})
}

// isList matches the write of a segment's end.
func isList(op vfstest.Op) bool { return (op.Off+op.Len)%format.MinSegment == 0 }

// Nobody waits for room in a hurry.
func TestHurry(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w, _, f := startedFaulty(t, 1, testConfig)
		stuck := f.Inject(vfstest.Rule{On: vfstest.OpWrite, Name: format.LogName, Block: true})
		for i := 0; !w.tier.log.Stalled.Load(); i++ {
			w.ram[string(w.key(i))] = value{make([]byte, 3000), 0}
			w.demote(w.key(i))
		}
		room := make(chan bool, 1)
		go func() { room <- w.tier.AwaitRoom() }()
		synctest.Wait()
		began := time.Now()
		w.tier.Hurry()
		if <-room || w.tier.AwaitRoom() {
			t.Error("there is room")
		}
		if _, ok := w.tier.WaitForRoom(0); ok {
			t.Error("there is room for a write")
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("it was waited for %v", took)
		}
		wantErr(t, w.tier.WhyNoRoom(), errStalled)
		stuck.Remove()
		noError(t, w.tier.Close(background))
		w.tier.Free()
	})
}
