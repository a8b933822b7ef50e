package main

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"
)

// temporaries are temporary directories of this process. They go when it ends;
// what a killed one left goes when a later one makes its own.
type temporaries struct {
	parent string // empty: the system's directory for temporary files

	mu   sync.Mutex
	held map[string]*flock.Flock // locks, by directory
}

// temporary are those of the program: signals end a process as a whole.
var temporary temporaries

const (
	// ownerFile is locked as long as the process lives that made the directory.
	ownerFile = "owner.lock"
	// staleAge is the age from which a directory without a holder is a left one:
	// one just made may not be locked yet.
	staleAge = time.Minute
)

// make makes an empty directory, within a temporary one whose name begins with
// prefix.
func (t *temporaries) make(prefix string) (dir string, err error) {
	removeStale(cmp.Or(t.parent, os.TempDir()), prefix)
	outer, err := os.MkdirTemp(t.parent, prefix)
	if err != nil {
		return "", err
	}
	lock := flock.New(filepath.Join(outer, ownerFile))
	dir = filepath.Join(outer, "files")
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.held == nil {
		t.held = map[string]*flock.Flock{}
	}
	t.held[dir] = lock
	_, err = lock.TryLock()
	return dir, errors.Join(err, os.Mkdir(dir, 0o700))
}

// remove removes the directory that make made, and all that is in it.
func (t *temporaries) remove(dir string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	lock, ok := t.held[dir]
	if !ok {
		return nil
	}
	delete(t.held, dir)
	return removeHeld(lock)
}

// removeAll removes every directory at once, also one that is in use.
func (t *temporaries) removeAll() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for dir, lock := range t.held {
		delete(t.held, dir)
		_ = removeHeld(lock) // the process ends, and can report nothing more
	}
}

// removeHeld removes the directory of a lock that this process has. A file made
// in that moment keeps it from going: then it is tried again.
func removeHeld(lock *flock.Flock) (err error) {
	_ = lock.Close() // before: some systems do not remove files that are open
	for range 3 {
		if err = os.RemoveAll(filepath.Dir(lock.Path())); err == nil {
			return nil
		}
	}
	return err
}

// removeStale removes the directories below parent, named prefix and more, that
// were left by processes that were killed: their locks are free. What cannot
// be removed, because it is another user's for example, stays.
func removeStale(parent, prefix string) {
	owners, err := filepath.Glob(filepath.Join(parent, prefix+"*", ownerFile))
	if err != nil {
		return
	}
	for _, owner := range owners {
		dir, err := os.Lstat(filepath.Dir(owner))
		if err != nil || !dir.IsDir() || time.Since(dir.ModTime()) < staleAge {
			continue
		}
		lock := flock.New(owner, flock.SetFlag(os.O_RDWR)) // only if it is there
		if locked, err := lock.TryLock(); err == nil && locked {
			_ = removeHeld(lock)
		}
	}
}
