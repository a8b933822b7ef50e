package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/firncache/firn/bench/hybrid"
	"github.com/firncache/firn/bench/keys"
)

func hybridRestartWeight(j job) float64 {
	size, _, err := j.hybridParam()
	if err != nil {
		return 1
	}
	return 2 + float64(size)/120e6
}

// restartJob is j with as many entries as make the size that Param asks for.
func restartJob(j job) (job, string, error) {
	size, root, err := j.hybridParam()
	j.Entries = int(size / (keys.Size + restartValueSize))
	return j, filepath.Join(root, j.Rival+"-restart"), err
}

// openRestart opens the store of a restart.
func openRestart(j job, dir string) (hybrid.Store, error) {
	e, err := hybrid.Find(j.Rival)
	if err != nil {
		return nil, err
	}
	data := int64(j.Entries) * (keys.Size + restartValueSize)
	return e.Open(hybrid.Config{Dir: dir, Memory: loadMemory(data), DataBytes: data, Readers: 1})
}

// runHybridRestart fills a store, closes it, and measures the time from opening
// it to the first answer; then the same after a process that wrote to it was
// killed. Param's number is the bytes of data. The page cache stays warm.
func runHybridRestart(j job, out *emitter) error {
	size, _, err := j.hybridParam()
	if err != nil {
		return err
	}
	if _, err := freshStore(j, "restart"); err != nil {
		return err
	}
	what := fmt.Sprintf("size=%dMB", size>>20)
	for _, after := range []string{afterClose, afterKill} {
		if err := runWriter(j, after); err != nil {
			return fmt.Errorf("writer before %s: %w", after, err)
		}
		rj, dir, err := restartJob(j)
		if err != nil {
			return err
		}
		s, again, err := firstAnswer(rj, dir)
		if err != nil {
			return fmt.Errorf("open after %s: %w", after, err)
		}
		sample := j.hybridSample("restart/"+after+"/"+what, "s", 0, 1, again.answered.Seconds())
		sample.Hit, sample.Dropped = &again.hit, int64(float64(restartReads)*(1-again.hit)+0.5)
		out.emit(sample)
		out.emit(j.hybridSample("restart-open/"+after+"/"+what, "s", 0, 1, again.opened.Seconds()))
		if err := s.Close(); err != nil {
			return err
		}
	}
	return nil
}

// The two ends of a process that a store is opened after.
const (
	afterClose = "close"
	afterKill  = "kill"
)

// restartReads is how many entries are looked for after a restart.
const restartReads = 100

// A restart is how long a store took to be there again, from the call of Open.
type restart struct {
	opened   time.Duration // until that returned
	answered time.Duration // until the sample was looked for
	hit      float64       // share of the sample that was found
}

// firstAnswer opens a store and reads an even sample of the entries. Entries that
// the killed process overwrote are not in the sample: they may be lost with what
// was only in memory.
func firstAnswer(j job, dir string) (s hybrid.Store, r restart, err error) {
	pair := hybrid.Pair(restartValueSize)
	began := time.Now()
	if s, err = openRestart(j, dir); err != nil {
		return nil, r, err
	}
	r.opened = time.Since(began)
	hits := 0
	for i := range restartReads {
		key, _ := pair(overwriteEvery*(i*(j.Entries/overwriteEvery)/restartReads) + 1)
		switch _, ok, err := s.Get(nil, key); {
		case err != nil:
			return s, r, err
		case ok:
			hits++
		}
	}
	r.answered, r.hit = time.Since(began), float64(hits)/restartReads
	return s, r, nil
}

// runWriter runs the process that writes to the store, and ends it: it closes
// the store, or it is killed when it has written.
func runWriter(j job, after string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	size, root, err := j.hybridParam()
	if err != nil {
		return err
	}
	j.Kind, j.Param = "hybrid-writer", param(size, after+":"+root)
	cmd := exec.Command(self, j.args()...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	if _, err := io.ReadFull(stdout, make([]byte, 1)); err != nil {
		return errors.Join(err, cmd.Wait())
	}
	if after == afterKill {
		if err := cmd.Process.Kill(); err != nil {
			return err
		}
		_ = cmd.Wait() // it was killed
		return nil
	}
	if err := in.Close(); err != nil {
		return err
	}
	return cmd.Wait()
}

// overwriteEvery tells which entries are overwritten before the kill: those
// whose numbers are its multiples.
const overwriteEvery = 100

// runHybridWriter fills a store that will be closed, or overwrites some entries
// of one before the kill. It says with a byte that it is done, and waits for its
// end. Param is NUMBER:close:DIRECTORY, or kill.
func runHybridWriter(j job, out *emitter) error {
	size, rest, err := j.hybridParam()
	if err != nil {
		return err
	}
	after, root, _ := strings.Cut(rest, ":")
	j.Param = param(size, root)
	j, dir, err := restartJob(j)
	if err != nil {
		return err
	}
	// Who started this process ends it by closing its input, also before it is done.
	var done atomic.Bool
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(io.Discard, os.Stdin)
		if !done.Load() {
			os.Exit(1)
		}
	}()
	s, err := openRestart(j, dir)
	if err != nil {
		return err
	}
	if after == afterClose {
		err = s.Load(j.Entries, sorted(j.Entries, restartValueSize))
	}
	pair := hybrid.Pair(restartValueSize)
	for i := 0; err == nil && after == afterKill && i < j.Entries; i += overwriteEvery {
		err = s.Set(pair(i))
	}
	if err != nil {
		return err
	}
	done.Store(true)
	if _, err := out.w.Write([]byte{'\n'}); err != nil {
		return err
	}
	<-ended
	return s.Close()
}
