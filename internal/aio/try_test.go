package aio

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn/internal/vfs/vfstest"

	"github.com/firncache/firn/internal/vfs"
)

// stuckFile is a file in memory of which reads are held until the rule is removed.
func stuckFile(t *testing.T) (vfs.File, *vfstest.Injection) {
	t.Helper()
	faulty := vfstest.NewFaulty(vfstest.NewMem())
	f, err := faulty.Open("data", vfs.OpenOptions{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(content[:1<<16], 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f, faulty.Inject(vfstest.Rule{On: vfstest.OpRead, Block: true})
}

// A Try ends at its deadline, of whichever kind it is and whether it has a slot or
// not. The buffers and slots of reads in flight stay the system's.
func TestTryTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, stuck := stuckFile(t)
		r := open(t, Config{File: f, Mode: Pread, Depth: 3, Timeout: 2 * time.Second})
		cancellable, cancel := context.WithCancel(context.Background())
		defer cancel()
		began := time.Now()
		ended := make(chan time.Duration)
		tries := []func() error{
			func() error { _, err := r.Try(context.Background(), r.Deadline(), 0, 8); return err },
			func() error { _, err := r.Try(cancellable, r.Deadline(), 0, 8); return err },
			func() error {
				reqs := []Request{{N: 8}, {N: 8}}
				r.TryMany(context.Background(), r.Deadline(), reqs)
				return errors.Join(reqs[0].Err, reqs[1].Err)
			},
			func() error { _, err := r.Try(context.Background(), r.Deadline(), 0, 8); return err },
		}
		for i, try := range tries {
			time.Sleep(100 * time.Millisecond)
			go func() {
				if err := try(); !errors.Is(err, ErrTimeout) {
					t.Errorf("try %d: %v, want ErrTimeout", i, err)
				}
				ended <- time.Since(began)
			}()
		}
		for i := range tries {
			if got, want := <-ended, 2*time.Second+time.Duration(i+1)*100*time.Millisecond; got != want {
				t.Errorf("the try that ended as number %d ended after %v, want %v", i, got, want)
			}
		}
		if s := r.Stats(); s.InFlight != 3 || s.Abandoned != 3 || s.Queued != 0 || s.Timeouts != 5 || inUse(r) != 3 {
			t.Errorf("%+v, %d buffers in use: want 3 reads abandoned, and 5 timeouts", s, inUse(r))
		}
		stuck.Remove()
		synctest.Wait()
		if s := r.Stats(); s.InFlight != 0 || s.Abandoned != 0 || inUse(r) != 0 {
			t.Errorf("%+v, %d buffers in use when the disk goes on", s, inUse(r))
		}
		buf, err := r.Try(context.Background(), r.Deadline(), 0, 8)
		check(t, Request{N: 8, Buf: buf, Err: err})
	})
}

// Calls that end in time leave nothing behind that ends at their deadlines, also
// if the disk was closed or their contexts ended meanwhile.
func TestTryEndsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, stuck := stuckFile(t)
		r := open(t, Config{File: f, Mode: Pread, Depth: 1, Timeout: time.Second, Patience: time.Minute})
		answers := make(chan error, 3)
		try := func(ctx context.Context) {
			go func() {
				buf, err := r.Try(ctx, r.Deadline(), 0, 8)
				if buf != nil {
					buf.Release()
				}
				answers <- err
			}()
			synctest.Wait()
		}
		ctx, cancel := context.WithCancel(context.Background())
		try(context.Background())
		try(ctx)
		try(context.Background())
		cancel()
		if err := <-answers; !errors.Is(err, context.Canceled) {
			t.Errorf("%v, want Canceled", err)
		}
		go r.Close()
		synctest.Wait()
		if err := <-answers; !errors.Is(err, ErrClosed) {
			t.Errorf("%v, want ErrClosed", err)
		}
		stuck.Remove()
		if err := <-answers; err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if r.timed.head != nil || r.timed.tail != nil {
			t.Errorf("a call that has ended is still to end: %+v", r.timed.head)
		}
		time.Sleep(time.Minute)
		if s := r.Stats(); s.Timeouts != 0 {
			t.Errorf("%d timeouts later", s.Timeouts)
		}
	})
}

// Reads that follow each other may share a deadline: a later one does not go
// beyond it, also if calls with later deadlines began before.
func TestTrySharesDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, stuck := stuckFile(t)
		r := open(t, Config{File: f, Mode: Pread, Timeout: time.Second})
		first := r.Deadline()
		time.Sleep(500 * time.Millisecond)
		began := time.Now()
		ended := make(chan time.Duration)
		for _, until := range []int64{r.Deadline(), first, r.Deadline()} {
			go func() {
				_, err := r.Try(context.Background(), until, 0, 8)
				if !errors.Is(err, ErrTimeout) {
					t.Errorf("%v, want ErrTimeout", err)
				}
				ended <- time.Since(began)
			}()
			synctest.Wait()
		}
		for _, want := range []time.Duration{500 * time.Millisecond, time.Second, time.Second} {
			if got := <-ended; got != want {
				t.Errorf("a try ended after %v, want %v", got, want)
			}
		}
		if _, err := r.Try(context.Background(), first, 0, 8); !errors.Is(err, ErrTimeout) || r.Stats().InFlight != 3 {
			t.Errorf("a try whose deadline is over: %v, %+v", err, r.Stats())
		}
		stuck.Remove()
		synctest.Wait()
	})
}

// More calls than Config.Callers are refused at once; Read is not, nor are calls
// when others have left.
func TestTryRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, stuck := stuckFile(t)
		r := open(t, Config{File: f, Mode: Pread, Depth: 2, Callers: 5})
		answers := make(chan error, 20)
		for range 5 {
			go func() {
				reqs := []Request{{N: 8}, {N: 8}, {N: 8}}
				r.TryMany(context.Background(), r.Deadline(), reqs)
				for _, q := range reqs {
					q.Buf.Release()
					answers <- q.Err
				}
			}()
		}
		synctest.Wait()
		if _, err := r.Try(context.Background(), r.Deadline(), 0, 8); !errors.Is(err, ErrBusy) {
			t.Errorf("the sixth caller got %v, want ErrBusy", err)
		}
		reqs := []Request{{N: 8}, {N: 8}}
		r.TryMany(context.Background(), r.Deadline(), reqs)
		if !errors.Is(reqs[0].Err, ErrBusy) || !errors.Is(reqs[1].Err, ErrBusy) {
			t.Errorf("a batch got %v and %v, want ErrBusy", reqs[0].Err, reqs[1].Err)
		}
		go func() {
			buf, err := r.Read(context.Background(), 0, 8)
			buf.Release()
			answers <- err
		}()
		synctest.Wait()
		if s := r.Stats(); s.InFlight != 2 || s.Queued != 14 || s.Refused != 3 || stuck.Hits() != 2 {
			t.Errorf("%+v: want 2 reads in flight, 14 queued and 3 refused", s)
		}
		stuck.Remove()
		for range 16 {
			if err := <-answers; err != nil {
				t.Error(err)
			}
		}
		synctest.Wait()
		buf, err := r.Try(context.Background(), r.Deadline(), 0, 8)
		check(t, Request{N: 8, Buf: buf, Err: err})
	})
}

// A disk that gives nothing back is asked once in a while only, until it gives
// something back.
func TestTrySilentDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, stuck := stuckFile(t)
		r := open(t, Config{File: f, Mode: Pread, Depth: 5, Timeout: 5 * time.Second, Silence: time.Second})
		time.Sleep(time.Minute) // a disk that has nothing to do is not silent
		answers := make(chan error, 20)
		try := func() {
			go func() {
				buf, err := r.Try(context.Background(), r.Deadline(), 0, 8)
				if buf != nil {
					buf.Release()
				}
				answers <- err
			}()
			synctest.Wait()
		}
		begun := func() {
			t.Helper()
			try()
			if len(answers) > 0 {
				t.Errorf("%v, want the read to be begun", <-answers)
			}
		}
		refused := func() {
			t.Helper()
			try()
			select {
			case err := <-answers:
				if !errors.Is(err, ErrBusy) {
					t.Errorf("%v, want ErrBusy", err)
				}
			default:
				t.Error("a read was begun, want ErrBusy")
			}
		}
		begun()
		begun()
		begun()
		time.Sleep(time.Second)
		begun() // once
		refused()
		time.Sleep(time.Second - 1)
		refused()
		time.Sleep(time.Nanosecond)
		begun() // the last slot
		refused()
		time.Sleep(time.Second)
		refused()
		if n := stuck.Hits(); n != 5 {
			t.Errorf("%d reads were begun, want 5", n)
		}
		for range 5 {
			if err := <-answers; !errors.Is(err, ErrTimeout) {
				t.Errorf("%v, want ErrTimeout", err)
			}
		}
		refused()
		stuck.Remove()
		synctest.Wait()
		for range 4 {
			try()
			if err := <-answers; err != nil {
				t.Errorf("%v when the disk goes on", err)
			}
		}
	})
}

// However large the reads are, the buffers of those in flight stay within
// Config.Memory, or are one.
func TestMemoryInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, stuck := stuckFile(t)
		r := open(t, Config{File: f, Mode: Pread, Memory: 20_000})
		answers := make(chan Request, 8)
		read := func(n int) {
			go func() {
				buf, err := r.Read(context.Background(), 0, n)
				answers <- Request{N: n, Buf: buf, Err: err}
			}()
			synctest.Wait()
		}
		flight := func(inFlight, queued int) {
			t.Helper()
			if s := r.Stats(); s.InFlight != inFlight || s.Queued != queued {
				t.Errorf("%d reads in flight and %d queued, want %d and %d", s.InFlight, s.Queued, inFlight, queued)
			}
		}
		read(30_000)
		flight(1, 0)
		read(8)
		flight(1, 1)
		read(19_992)
		read(8)
		flight(1, 3)
		stuck.Remove()
		for range 4 {
			check(t, <-answers)
		}
	})
}

// A Try in time allocates nothing, and sets no timer of its own.
func TestTryAllocatesNothing(t *testing.T) {
	if allocatingBuild {
		t.Log("this build allocates to find faults: nothing was measured")
		return
	}
	inModes(t, func(t *testing.T, mode Mode) {
		r := open(t, Config{File: newFile(t, 1<<20), Mode: mode, Depth: 4, Callers: 100, Timeout: time.Minute, Silence: time.Minute})
		reqs := make([]Request, 16)
		allocs := testing.AllocsPerRun(200, func() {
			for i := range reqs {
				reqs[i] = Request{Off: int64(i) * 5000, N: 4096}
			}
			r.TryMany(context.Background(), r.Deadline(), reqs)
			for i := range reqs {
				check(t, reqs[i])
			}
			buf, err := r.Try(context.Background(), r.Deadline(), 0, 4096)
			check(t, Request{N: 4096, Buf: buf, Err: err})
		})
		if allocs != 0 {
			t.Errorf("%v allocations in a TryMany of 16 and a Try", allocs)
		}
	})
}
