package ssd

import (
	"syscall"
	"testing"

	"github.com/firncache/firn/internal/vfs"
)

// An id that the index takes for another's is the other's everywhere: a write
// that finds the entry gone waits for the note of the one that took it out.
func TestIDsThatTheIndexCannotTell(t *testing.T) {
	w := newWorld(t, 1)
	mem := vfs.NewMem()
	cfg := testConfig(mem, w)
	cfg.Bytes = 4 << 20
	w.reopen(t, cfg)
	key := w.key(1)
	a := w.hasher.Hash(key)
	b := a ^ 1<<(63-w.tier.index.shardBits) // differs in the highest bit below the shard's number
	if n := w.tier.index.shardBits + w.tier.index.fingerprintBits(); n >= idBits {
		t.Fatalf("the index keeps %d bits of an id: nothing to test", n)
	}
	if !w.tier.Demote(a, key, []byte("old"), 0, true) {
		t.Fatal("not demoted")
	}
	w.tier.Superseded(b) // another key is being written
	w.tier.Superseded(a) // and this one is
	if err := w.tier.Commit(a); err != nil {
		t.Fatal(err)
	}
	w.written()
	h := w.heir()
	cfg.FS = mem.CrashClone(nil, vfs.Kill)
	h.reopen(t, cfg)
	if f, err := h.tier.Get(background, nil, key, a); err == nil {
		t.Errorf("%q is back", f.Value)
	}
	h.close(t)
	w.close(t)
}

// A tier that was opened and never started, because something else of the cache
// could not be, leaves the files as they were.
func TestCloseWithoutStart(t *testing.T) {
	const keys = 50
	w := newWorld(t, 1)
	mem := vfs.NewMem()
	w.reopen(t, testConfig(mem, w))
	for i := range keys {
		w.put(t, w.key(i))
	}
	w.close(t)
	tier, err := Open(testConfig(mem, w))
	if err != nil {
		t.Fatal(err)
	}
	if err := tier.Close(); err != nil {
		t.Fatal(err)
	}
	tier.Free()
	w.reopen(t, testConfig(mem, w))
	for i := range keys {
		if err := w.set(w.key(i), 0); err != nil {
			t.Fatal(err)
		}
	}
	h := w.heir()
	h.reopen(t, testConfig(mem.CrashClone(nil, vfs.Kill), h))
	h.check(t, keys, false)
	h.close(t)
	w.close(t)
	w.reopen(t, testConfig(mem, w))
}

// A write that is between Superseded and Commit while the tier is closed is
// acknowledged: its note must be in the files.
func TestCloseBetweenSupersededAndCommit(t *testing.T) {
	w := newWorld(t, 1)
	mem := vfs.NewMem()
	w.reopen(t, testConfig(mem, w))
	key := w.key(1)
	w.put(t, key)
	w.next()
	hash := w.hasher.Hash(key)
	w.tier.Superseded(hash)
	w.close(t)
	if err := w.tier.Commit(hash); err != nil {
		t.Fatal(err)
	}
	w.acked[string(key)] = w.seq
	w.reopen(t, testConfig(mem, w)) // with the snapshot
	w.check(t, 2, false)
	h := w.heir()
	h.reopen(t, testConfig(mem.CrashClone(nil, vfs.Kill), h)) // without
	h.check(t, 2, false)
	h.close(t)
	w.close(t)
}

// If the tier cannot be closed, a write that waits for its note is told that the
// older value may come back.
func TestCloseFailsBetweenSupersededAndCommit(t *testing.T) {
	w := newWorld(t, 1)
	f := vfs.NewFaulty(vfs.NewMem())
	w.reopen(t, testConfig(f, w))
	key := w.key(1)
	w.put(t, key)
	hash := w.hasher.Hash(key)
	w.tier.Superseded(hash)
	for _, name := range []string{"superblock", journalName} {
		f.Inject(vfs.Rule{On: vfs.OpWrite | vfs.OpSync, Name: name, Err: syscall.EIO})
	}
	if err := w.tier.Close(); err == nil {
		t.Fatal("Close: no error")
	}
	w.tier.Free()
	if err := w.tier.Commit(hash); err == nil {
		t.Error("Commit: no error")
	}
}
