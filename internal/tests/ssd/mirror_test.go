package ssd

import (
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/tests/harness"
	"github.com/firncache/firn/internal/vfs"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// mirrored opens a cache that mirrors RAM every second.
func mirrored(t *testing.T, fs vfs.FS) *firn.Cache {
	t.Helper()
	o := harness.HybridOptions(fs)
	o.SSD.MirrorEvery = time.Second
	c, err := firn.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func setNumbered(t *testing.T, c *firn.Cache, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		if err := c.Set(harness.Numbered(i)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestMirrorSurvivesKill: what is older than MirrorAge is found after a kill, and nothing that a
// later write has replaced.
func TestMirrorSurvivesKill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const old, written, young = 500, 100, 600
		mem := vfstest.NewMem()
		c := mirrored(t, mem)
		setNumbered(t, c, 0, old)
		long := make([]byte, 200<<10) // in parts
		if err := c.Set([]byte("long"), long); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3500 * time.Millisecond)
		s := c.Stats().SSD
		if s.MirrorAge > 2500*time.Millisecond || s.Unmirrored != 0 || s.UnmirroredBytes != 0 || s.Entries < old {
			t.Errorf("age %v, %d entries of %d bytes not mirrored, %d on the SSD", s.MirrorAge, s.Unmirrored, s.UnmirroredBytes, s.Entries)
		}
		time.Sleep(2 * time.Second)
		if after := c.Stats().SSD; after.WrittenBytes != s.WrittenBytes || after.MirrorAge > 3*time.Second {
			t.Errorf("passes over what has not changed wrote %d bytes; age %v", after.WrittenBytes-s.WrittenBytes, after.MirrorAge)
		}
		for i := range written {
			key, _ := harness.Numbered(i)
			if err := c.Set(key, []byte("later")); err != nil {
				t.Fatal(err)
			}
		}
		setNumbered(t, c, old, young)
		left := mem.CrashClone(nil, vfstest.Kill)
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		c = mirrored(t, left)
		defer c.Close()
		for i := range young {
			key, value := harness.Numbered(i)
			v, ok := c.Get(nil, key)
			switch {
			case i >= written && i < old && string(v) != string(value):
				t.Errorf("entry %d, older than the mirror's age: %v, %.20q", i, ok, v)
			case i < written && ok && string(v) != "later":
				t.Errorf("entry %d is what a write has replaced: %.20q", i, v)
			case i >= old && ok && string(v) != string(value):
				t.Errorf("entry %d: %.20q", i, v)
			}
		}
		if v, ok := c.Get(nil, []byte("long")); !ok || len(v) != len(long) {
			t.Errorf("the long value: %v, %d bytes", ok, len(v))
		}
	})
}

// TestMirrorOfStuckDisk: the mirror waits, its age grows, and nothing else happens. When the disk
// goes on, so does the mirror.
func TestMirrorOfStuckDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := vfstest.NewFaulty(vfstest.NewMem())
		c := mirrored(t, f)
		setNumbered(t, c, 0, 300)
		time.Sleep(3500 * time.Millisecond)
		in := f.Inject(vfstest.Rule{On: vfstest.OpWrite, Block: true})
		setNumbered(t, c, 300, 320) // there is room for these copies, which are not written
		time.Sleep(5 * time.Second)
		if s := c.Stats().SSD; s.MirrorAge < 5*time.Second || s.Entries != 320 {
			t.Errorf("age %v, and %d copies, the last of them not written", s.MirrorAge, s.Entries)
		}
		setNumbered(t, c, 320, 600)
		time.Sleep(5 * time.Second)
		if s := c.Stats().SSD; s.MirrorAge < 5*time.Second || !s.Online {
			t.Errorf("age %v over a disk that takes nothing for five seconds; online %v", s.MirrorAge, s.Online)
		}
		if n := harness.CountMissing(t, c, 600); n > 0 {
			t.Errorf("%d of 600 entries are not found meanwhile", n)
		}
		in.Remove()
		time.Sleep(5 * time.Second)
		if s := c.Stats().SSD; s.MirrorAge > 3*time.Second || s.Unmirrored != 0 {
			t.Errorf("age %v, %d not mirrored: the mirror does not go on", s.MirrorAge, s.Unmirrored)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestMirrorOfLostTier: copies that went with the SSD tier count no more, and are made anew.
func TestMirrorOfLostTier(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := vfstest.NewFaulty(vfstest.NewMem())
		opened := time.Now()
		c := mirrored(t, f)
		setNumbered(t, c, 0, 300)
		time.Sleep(3500 * time.Millisecond)
		in := f.Inject(vfstest.Rule{On: vfstest.OpWrite, Err: syscall.EIO})
		for i := 300; c.Stats().SSD.Online; i++ {
			setNumbered(t, c, i, i+100)
			time.Sleep(time.Second)
		}
		in.Remove()
		for !c.Stats().SSD.Online {
			time.Sleep(time.Millisecond)
		}
		if s, want := c.Stats().SSD, time.Since(opened); s.MirrorAge < want {
			t.Errorf("age %v, and the copies of earlier are gone: want %v", s.MirrorAge, want)
		}
		time.Sleep(4 * time.Second)
		if s := c.Stats().SSD; s.MirrorAge > 3*time.Second || s.Unmirrored != 0 || s.Entries == 0 {
			t.Errorf("age %v, %d not mirrored, %d on the SSD", s.MirrorAge, s.Unmirrored, s.Entries)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestMirrorOptions: what cannot be is an error that names the field.
func TestMirrorOptions(t *testing.T) {
	for want, change := range map[string]func(o *firn.Options){
		"SSD.MirrorEvery is 1ms":      func(o *firn.Options) { o.SSD.MirrorEvery = time.Millisecond },
		"SSD.MirrorEvery is -1s":      func(o *firn.Options) { o.SSD.MirrorEvery = -time.Second },
		"SSD.Bytes is 2097151":        func(o *firn.Options) { o.SSD.Bytes = 2<<20 - 1 },
		"SSD.Dir is empty, and other": func(o *firn.Options) { o.SSD = firn.SSDOptions{MirrorEvery: time.Second} },
	} {
		o := harness.HybridOptions(vfstest.NewMem())
		o.SSD.MirrorEvery = time.Second
		change(&o)
		c, err := firn.Open(o)
		if err == nil {
			c.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want an error with %q", err, want)
		}
	}
}

// TestMirrorOfForgottenCache: a cache that nobody closed is collected, and its mirror ends.
func TestMirrorOfForgottenCache(t *testing.T) {
	before := runtime.NumGoroutine()
	func() {
		setNumbered(t, mirrored(t, vfstest.NewMem()), 0, 100)
	}()
	for deadline := time.Now().Add(30 * time.Second); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		runtime.GC()
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
}
