package vfstest

import "github.com/firncache/firn/internal/vfs"

// faultyFile is an open file of a Faulty.
type faultyFile struct {
	fs    *Faulty
	inner vfs.File
	name  string
}

func (f *faultyFile) ReadAt(p []byte, off int64) (n int, err error) {
	op := Op{Kind: OpRead, Name: f.name, Off: off, Len: int64(len(p)), file: f.inner}
	outcome := f.fs.begin(&op)
	if outcome.err == nil {
		n, err = f.inner.ReadAt(p, off)
	} else {
		n, err = f.part(outcome, p, off, f.inner.ReadAt)
	}
	for _, mangle := range outcome.mangle {
		mangle(op, p[:n])
	}
	return n, f.fs.end(outcome, err)
}

func (f *faultyFile) WriteAt(p []byte, off int64) (n int, err error) {
	outcome := f.fs.begin(&Op{Kind: OpWrite, Name: f.name, Off: off, Len: int64(len(p)), file: f.inner, data: p})
	if outcome.err == nil {
		n, err = f.inner.WriteAt(p, off)
	} else {
		n, err = f.part(outcome, p, off, f.inner.WriteAt)
	}
	return n, f.fs.end(outcome, err)
}

// part does the beginning of a read or write that fails.
func (f *faultyFile) part(outcome outcome, p []byte, off int64, work func([]byte, int64) (int, error)) (n int, err error) {
	if k := f.fs.partOf(len(p), outcome.partial, f.inner.Align()); k > 0 {
		n, _ = work(p[:k], off)
	}
	return n, outcome.err
}

// Sync that fails gives up the written bytes, as Linux does: they can be read until
// the machine fails, and a later Sync that succeeds does not keep them. Of the
// file systems here only Mem can show that.
func (f *faultyFile) Sync() error {
	outcome := f.fs.begin(&Op{Kind: OpSync, Name: f.name})
	if outcome.err != nil {
		f.failSync()
		return f.fs.end(outcome, outcome.err)
	}
	return f.fs.end(outcome, f.inner.Sync())
}

func (f *faultyFile) failSync() {
	if inner, ok := f.inner.(interface{ failSync() }); ok {
		inner.failSync()
	}
}

func (f *faultyFile) Allocate(size int64) error {
	return f.fs.do(Op{Kind: OpAllocate, Name: f.name, Len: size}, func() error { return f.inner.Allocate(size) })
}

func (f *faultyFile) Truncate(size int64) error {
	return f.fs.do(Op{Kind: OpTruncate, Name: f.name, Len: size}, func() error { return f.inner.Truncate(size) })
}

// Close closes the file whatever it returns.
func (f *faultyFile) Close() error {
	outcome := f.fs.begin(&Op{Kind: OpClose, Name: f.name})
	err := f.inner.Close()
	if outcome.err != nil {
		err = outcome.err
	}
	f.fs.mu.Lock()
	delete(f.fs.open, f)
	f.fs.mu.Unlock()
	return f.fs.end(outcome, err)
}

func (f *faultyFile) Size() (int64, error) { return f.inner.Size() }
func (f *faultyFile) Align() int           { return f.inner.Align() }

// Fd says that there is no descriptor: nothing may pass by the rules.
func (f *faultyFile) Fd() (uintptr, bool) { return 0, false }
