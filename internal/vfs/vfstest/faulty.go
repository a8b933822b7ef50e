package vfstest

import (
	"io"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/firncache/firn/internal/vfs"
)

// Faulty is a file system for tests that stands before another: it counts the
// operations, remembers the last of them, and meets those that its rules name
// with errors, delays and pauses. Without rules everything passes.
type Faulty struct {
	inner vfs.FS

	mu    sync.Mutex
	rules []*Injection
	rng   *rand.Rand
	log   oplog
	open  map[*faultyFile]bool
	peak  int // most files that were open at once
}

// NewFaulty stands before inner. The numbers behind Probability and random
// Partial have a fixed seed: see Seed.
func NewFaulty(inner vfs.FS) *Faulty {
	return &Faulty{inner: inner, rng: rand.New(rand.NewPCG(1, 2)), open: map[*faultyFile]bool{}}
}

// Seed starts the random numbers anew.
func (f *Faulty) Seed(seed uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rng = rand.New(rand.NewPCG(seed, seed))
}

// outcome is the decision of the rules about an operation.
type outcome struct {
	entry   *logEntry
	err     error
	partial int // bytes to do before err; -1: any
	mangle  []func(Op, []byte)
}

// begin counts the operation, and lets every rule that meets it act. The caller
// ends it with end.
func (f *Faulty) begin(op *Op) outcome {
	f.mu.Lock()
	entry := f.log.begin(op)
	var met []*Injection
	for _, in := range f.rules {
		if in.matches(*op) {
			met = append(met, in)
		}
	}
	f.mu.Unlock()

	outcome := outcome{entry: entry}
	for _, in := range met {
		in.meet(*op)
		if in.rule.Err != nil && outcome.err == nil {
			outcome.err, outcome.partial = in.rule.Err, in.rule.Partial
		}
		if in.rule.Mangle != nil {
			outcome.mangle = append(outcome.mangle, in.rule.Mangle)
		}
	}
	if outcome.err != nil {
		outcome.err = pathError(op.Kind.String(), op.Name, outcome.err)
	}
	return outcome
}

// end notes how the operation ended, and returns that.
func (f *Faulty) end(outcome outcome, err error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	outcome.entry.done, outcome.entry.err = true, err
	return err
}

// do is an operation that is done or fails.
func (f *Faulty) do(op Op, work func() error) error {
	outcome := f.begin(&op)
	if outcome.err != nil {
		return f.end(outcome, outcome.err)
	}
	return f.end(outcome, work())
}

// Open implements FS.
func (f *Faulty) Open(name string, opts vfs.OpenOptions) (vfs.File, error) {
	kind := OpOpen
	if opts.Create {
		kind = OpCreate
	}
	var file *faultyFile
	err := f.do(Op{Kind: kind, Name: name}, func() error {
		inner, err := f.inner.Open(name, opts)
		if err == nil {
			file = &faultyFile{fs: f, inner: inner, name: name}
			f.opened(file)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return file, nil
}

func (f *Faulty) opened(file *faultyFile) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open[file] = true
	f.peak = max(f.peak, len(f.open))
}

// OpenFiles names the files that are open, sorted, once for every time.
func (f *Faulty) OpenFiles() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	names := make([]string, 0, len(f.open))
	for file := range f.open {
		names = append(names, file.name)
	}
	slices.Sort(names)
	return names
}

// PeakOpenFiles is the most files that were open at once.
func (f *Faulty) PeakOpenFiles() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.peak
}

// Remove implements FS.
func (f *Faulty) Remove(name string) error {
	return f.do(Op{Kind: OpRemove, Name: name}, func() error { return f.inner.Remove(name) })
}

// Rename implements FS.
func (f *Faulty) Rename(oldName, newName string) error {
	return f.do(Op{Kind: OpRename, Name: oldName, To: newName}, func() error { return f.inner.Rename(oldName, newName) })
}

// List implements FS.
func (f *Faulty) List() (names []string, err error) {
	err = f.do(Op{Kind: OpList}, func() error {
		names, err = f.inner.List()
		return err
	})
	return names, err
}

// SyncDir implements FS.
func (f *Faulty) SyncDir() error {
	return f.do(Op{Kind: OpSyncDir}, f.inner.SyncDir)
}

// Lock implements FS. Giving the lock back is no operation of its own.
func (f *Faulty) Lock(name string) (lock io.Closer, err error) {
	err = f.do(Op{Kind: OpLock, Name: name}, func() error {
		lock, err = f.inner.Lock(name)
		return err
	})
	return lock, err
}

// Free implements FS.
func (f *Faulty) Free() (n int64, err error) {
	err = f.do(Op{Kind: OpFree}, func() error {
		n, err = f.inner.Free()
		return err
	})
	return n, err
}

// partOf is how many of n bytes are done before the error.
func (f *Faulty) partOf(n, partial, align int) int {
	if partial < 0 {
		f.mu.Lock()
		partial = f.rng.IntN(n/sectorSize+1) * sectorSize
		f.mu.Unlock()
	}
	return min(n, partial) / align * align
}
