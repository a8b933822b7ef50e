package vfs

// interposed stands before the real file system, in tests; nil: nothing does.
var interposed func(FS) FS

// Interpose puts something before every directory that OS returns from now on: a
// Faulty, say, in a process that a test has started, which opens a cache as any
// program does. It is to be called before that.
func Interpose(before func(FS) FS) { interposed = before }

func interpose(fs FS) FS {
	if interposed == nil {
		return fs
	}
	return interposed(fs)
}
