package ssd

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/firncache/firn/internal/record"
	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/vfs"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// longConfig is a tier whose values may be as long as eight segments.
var longConfig = with(testConfig, func(cfg *Config) { cfg.Bytes = 6 << 20 })

// longWorld is a world in which most values are longer than a segment.
func longWorld(t testing.TB, seed uint64, fs vfs.FS) *world {
	t.Helper()
	w := newWorld(t, seed)
	w.most = 250 << 10
	w.reopen(t, longConfig(fs, w))
	return w
}

// sink lets a key leave RAM as the RAM tier does. between is called before each part,
// and may write: then nothing comes.
func (w *world) sink(key []byte, between func()) (ok bool) {
	v, there := w.ram[string(key)]
	if !there {
		return false
	}
	if len(key)+len(v.bytes) <= w.tier.MaxWhole() {
		return w.demote(key)
	}
	d, lives := w.tier.DemoteParts(w.hasher.Hash(key), len(key), len(v.bytes), v.deadline, true, record.SameCopy)
	if d == nil {
		delete(w.ram, string(key))
		return lives
	}
	for waited := time.Duration(0); ; {
		between()
		if now, there := w.ram[string(key)]; !there || &now.bytes[0] != &v.bytes[0] {
			d.Abort(false)
			return false
		}
		ended, ok, again := w.sinkNext(d, key, v.bytes)
		switch {
		case ok && ended:
			delete(w.ram, string(key))
			return true
		case ok:
			continue
		case again:
			if waited, ok = d.Wait(waited, false); ok {
				continue
			}
		}
		d.Abort(true)
		delete(w.ram, string(key))
		return false
	}
}

func (w *world) sinkNext(d *Transfer, key, value []byte) (ended, ok, again bool) {
	if d.Whole() {
		ok, again = d.PutAll(key, value)
		return true, ok, again
	}
	if from, n := d.NextPart(); n > 0 {
		ok, again = d.PutPart(value[from : from+n])
		return false, ok, again
	}
	ok, again = d.Commit(key)
	return true, ok, again
}

// fate of a key that has left RAM, which is an error if it is wrong.
func (w *world) found(key []byte) (bool, error) {
	hits := w.hits
	err := w.get(key)
	return w.hits > hits, err
}

// come lets a key have a value of so many bytes, which leaves RAM.
func (w *world) come(t *testing.T, key []byte, n int) {
	t.Helper()
	w.setBytes(key, n)
	if !w.sink(key, nothing) {
		t.Fatalf("%s did not come: %+v", key, w.tier.Stats())
	}
}

// wantFound reads keys from the tier.
func (w *world) wantFound(t *testing.T, want bool, keys ...[]byte) {
	t.Helper()
	for _, key := range keys {
		if ok, err := w.found(key); err != nil || ok != want {
			t.Fatalf("%s: found %v, %v: want %v", key, ok, err, want)
		}
		delete(w.ram, string(key))
	}
}

func nothing() {}

// checkParts counts the entries of parts, and compares what is alive with the
// entries' weights.
func checkParts(t *testing.T, tier *Tier) (parts int) {
	t.Helper()
	checkAlive(t, tier)
	for _, e := range allEntries(tier.index) {
		if e.Class() == format.PartClass {
			parts++
		}
	}
	if got := tier.live.parts.Load(); got != int64(parts) {
		t.Fatalf("%d parts are counted: want %d", got, parts)
	}
	return parts
}

// A long value comes in parts, is found as it was, and goes with all of them.
func TestLongValue(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := longWorld(t, 1, vfstest.NewMem())
		for i, n := range []int{20 << 10, 64 << 10, 65 << 10, 200 << 10, 600 << 10} {
			key := w.key(i)
			w.come(t, key, n)
			for range 2 { // from memory and, later, from the disk
				f, err := w.tier.Get(background, []byte("before"), key, w.hasher.Hash(key))
				if err != nil || len(f.Value) != 6+16+(n+7)&^7 && len(f.Value) != 6+16+n || string(f.Value[:6]) != "before" {
					t.Fatalf("%d bytes: got %d and %v", n, len(f.Value), err)
				}
				if _, err := seqOf(key, f.Value[6:]); err != nil {
					t.Fatal(err)
				}
				w.tier.log.FlushOpen()
			}
		}
		w.wantLen(t, 5)
		if checkParts(t, w.tier) == 0 {
			t.Fatal("nothing came in parts")
		}
		w.deleteKeys(5)
		if n := checkParts(t, w.tier); n != 0 || w.tier.Len() != 0 {
			t.Fatalf("%d parts are left, and %d records", n, w.tier.Len())
		}
	})
}

// What is written between two parts is not there when it is over.
func TestLongValueSupersededBetweenParts(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := longWorld(t, 2, vfstest.NewMem())
		key := w.key(1)
		for stop := range 8 {
			w.setBytes(key, 100<<10)
			n := 0
			if w.sink(key, func() {
				if n++; n == stop {
					w.delete(key)
				}
			}); w.tier.Len() != 0 {
				noError(t, w.get(key))
			}
			w.delete(key)
			if n := checkParts(t, w.tier); n != 0 || w.tier.live.descents.Load() != 0 {
				t.Fatalf("stopped at %d: %d parts are left, and %d descents", stop, n, w.tier.live.descents.Load())
			}
		}
	})
}

// After a kill the parts of a value without its head are nothing, and take no room for
// long; a value that was written to its end is there.
func TestLongValueAfterKill(t *testing.T) {
	bubble(t, func(t *testing.T) {
		for killAt := range 8 {
			fs := vfstest.NewMem()
			w := longWorld(t, 3, fs)
			done, half := w.key(1), w.key(2)
			w.come(t, done, 100<<10)
			w.setBytes(half, 100<<10)
			w.written()
			var left *vfstest.Mem
			n := 0
			came := w.sink(half, func() {
				w.written()
				if n++; n == killAt {
					left = fs.CrashClone(nil, vfstest.Kill)
				}
			})
			if left == nil {
				if !came {
					t.Fatal("it did not come")
				}
				w.written()
				left = fs.CrashClone(nil, vfstest.Kill)
			} else {
				came = false
			}
			h := w.heirOf(t, left, longConfig)
			if ok, err := h.found(done); err != nil || !ok {
				t.Fatalf("killed at %d: found %v, %v", killAt, ok, err)
			}
			if ok, err := h.found(half); err != nil || ok != came {
				t.Fatalf("killed at %d: the half written value: found %v, %v", killAt, ok, err)
			}
			checkParts(t, h.tier)
			h.tier.All(func(_ uint64, key, v []byte) bool {
				if _, err := seqOf(key, v); err != nil {
					t.Errorf("killed at %d: All yields %q: %v", killAt, key, err)
				}
				return true
			})
			h.ram[string(half)] = value{h.bytesOf(half, h.seq, 100<<10), 0}
			if h.next(); !h.sink(half, nothing) { // over the parts that were left
				t.Fatal("it did not come again")
			}
			if ok, err := h.found(half); err != nil || !ok {
				t.Fatalf("killed at %d: written again: found %v, %v", killAt, ok, err)
			}
		}
	})
}

const longKeys = 60

// longWalk takes random steps.
type longWalk struct {
	t                        *testing.T
	w                        *world
	fs                       *vfstest.Mem
	came, reclaimed, corrupt uint64
}

func (l *longWalk) step() (err error) {
	w := l.w
	key := w.key(w.rng.IntN(longKeys))
	switch n := w.rng.IntN(500); {
	case n < 1:
		w.ram = map[string]value{}
		w.tier.Clear()
	case n < 2:
		return l.reopen(w.rng.IntN(2) == 0)
	case n < 10:
		w.delete(key)
	case n < 20:
		w.now.Add(w.rng.Int64N(50))
	case n < 200:
		return w.get(key)
	default:
		if _, ok := w.ram[string(key)]; !ok {
			w.set(key, w.rng.Int64N(2)*(w.now.Load()+1000))
		}
		if w.sink(key, func() { err = errors.Join(err, l.between(key)) }) {
			l.came++
		}
	}
	return err
}

// between does something between two parts of a key's value.
func (l *longWalk) between(key []byte) error {
	w := l.w
	switch w.rng.IntN(100) {
	case 0:
		w.delete(key)
	case 1:
		w.set(key, 0)
	case 2:
		if w.rng.IntN(10) == 0 {
			w.ram = map[string]value{}
			w.tier.Clear()
		}
	case 3:
		return w.get(w.key(w.rng.IntN(longKeys)))
	}
	return nil
}

// reopen closes the tier, or kills it, and opens what is left.
func (l *longWalk) reopen(kill bool) error {
	w := l.w
	l.count()
	w.ram = map[string]value{}
	left := l.fs
	if kill {
		left = l.fs.CrashClone(nil, vfstest.Kill)
	}
	if err := w.tier.Close(background); err != nil {
		return err
	}
	w.opened.remove(w.tier)
	l.fs = left
	return w.open(longConfig(l.fs, w))
}

func (l *longWalk) count() {
	s := l.w.tier.Stats()
	l.reclaimed, l.corrupt = l.reclaimed+s.Reclaimed, l.corrupt+s.Corrupt
}

// Random steps of a tier whose values are of all lengths.
func TestLongValuesAtRandom(t *testing.T) {
	for seed := range uint64(4) {
		inBubble(t, fmt.Sprint(seed), func(t *testing.T) {
			l := longWalk{t: t, fs: vfstest.NewMem()}
			l.w = longWorld(t, seed, l.fs)
			for i := range 600 {
				if err := l.step(); err != nil {
					t.Fatalf("seed %d, step %d: %v", seed, i, err)
				}
			}
			noError(t, l.w.checkAll(longKeys))
			checkParts(t, l.w.tier)
			l.count()
			if l.w.hits < 50 || l.came < 100 || l.reclaimed == 0 || l.corrupt > 0 {
				t.Fatalf("%d found, %d came, %d segments reclaimed, %d corrupt", l.w.hits, l.came, l.reclaimed, l.corrupt)
			}
		})
	}
}
