package kill

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firncache/firn"
)

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
	quota  int64  // the largest of any life
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
	children.add(s.cmd.Process.Pid)
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
	p.quota = max(setting.SSDBytes, p.quota) // files that are to be smaller are so when a Close has had its time
	dir, quota := setting.Dir, p.quota
	const tooLong = 5 * time.Minute
	for began := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		select {
		case <-s.ready:
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
