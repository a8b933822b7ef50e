package ssd

import (
	"errors"
	"testing"

	"github.com/firncache/firn/internal/ssd/check"
	"github.com/firncache/firn/internal/ssd/format"
	"github.com/firncache/firn/internal/ssd/index"
	"github.com/firncache/firn/internal/vfs"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// checkAll reads every key.
func (w *world) checkAll(keys int) error {
	for i := range keys {
		if err := w.get(w.key(i)); err != nil {
			return err
		}
	}
	return nil
}

// check reads every key, and wants a value for some if want is set.
func (w *world) check(t testing.TB, keys int, want bool) {
	t.Helper()
	before := w.hits
	noError(t, w.checkAll(keys))
	if want && w.hits == before {
		t.Fatalf("nothing is found: %+v", w.tier.Stats())
	}
}

// missing are the keys that the tier took over and has no more. What it finds must
// be the version that it took.
func (w *world) missing(t testing.TB) (keys []string) {
	t.Helper()
	for key, want := range w.there {
		f, err := Found{}, ErrChanged
		for errors.Is(err, ErrChanged) { // it is moved meanwhile
			f, err = w.tier.Get(background, nil, []byte(key), w.hasher.Hash([]byte(key)))
		}
		if err != nil {
			keys = append(keys, key)
			continue
		}
		if seq, err := seqOf([]byte(key), f.Value); err != nil || seq != want {
			t.Fatalf("%s: version %d, %v; want %d", key, seq, err, want)
		}
	}
	return keys
}

// wantAll fails the test if something that the tier took over is not found.
func (w *world) wantAll(t testing.TB, about ...any) {
	t.Helper()
	if lost := w.missing(t); len(lost) > 0 {
		t.Errorf("%d of %d records are not found %v", len(lost), len(w.there), about)
	}
}

// wantLen fails the test if the tier has not so many records.
func (w *world) wantLen(t testing.TB, want int, about ...any) {
	t.Helper()
	if n := w.tier.Len(); n != want {
		t.Errorf("%d records, want %d %v", n, want, about)
	}
}

// wantKeys fails the test if looking up the first keys does not end so.
func (w *world) wantKeys(t testing.TB, keys int, want error) {
	t.Helper()
	for i := range keys {
		wantErr(t, w.getKey(i), want)
	}
}

// wantErr fails the test if an error is not the one that is wanted, or nil.
func wantErr(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%v, want %v", err, want)
	}
}

func errOf(_ Found, err error) error { return err }

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantNoOpenFiles(t testing.TB, f *vfstest.Faulty) {
	t.Helper()
	if open := f.OpenFiles(); len(open) > 0 {
		t.Errorf("left open: %v", open)
	}
}

// wantWhole fails the test if something is wrong with the files.
func wantWhole(t testing.TB, fs vfs.FS) {
	t.Helper()
	_, err := check.Verify(background, fs, func(p check.Problem) { t.Error(p) }, nil)
	noError(t, err)
}

func inspect(t testing.TB, fs vfs.FS) *check.Inspection {
	t.Helper()
	in, err := check.Inspect(background, fs, nil)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// checkAlive compares what the log counts as alive with what the index names. The
// tier does nothing else meanwhile.
func checkAlive(t *testing.T, tier *Tier) {
	t.Helper()
	alive := make([]int64, len(tier.log.Slots))
	tier.index.Each(func(_ format.ID, e format.Entry) format.Entry {
		slot, _ := tier.log.Place(tier.index.Location(e))
		alive[slot] += int64(tier.log.Weight(e.Class()))
		return e
	})
	for i := range alive {
		if n := tier.log.Slots[i].Alive.Load(); n != alive[i] {
			t.Errorf("slot %d: %d is counted as alive, the index names %d", i, n, alive[i])
		}
	}
}

// allEntries are those of an index, in its order.
func allEntries(x *index.Index) (entries []format.Entry) {
	x.Each(func(_ format.ID, e format.Entry) format.Entry { entries = append(entries, e); return e })
	return entries
}

// fileBytes is what all files take together.
func fileBytes(t testing.TB, m *vfstest.Mem) (all int64) {
	t.Helper()
	names, err := m.List()
	noError(t, err)
	for _, name := range names {
		f, err := m.Open(name, vfs.OpenOptions{ReadOnly: true})
		noError(t, err)
		n, err := f.Size()
		noError(t, errors.Join(err, f.Close()))
		all += n
	}
	return all
}

func bytesIn(t testing.TB, m *vfstest.Mem, name string) []byte {
	t.Helper()
	b, err := m.Bytes(name)
	noError(t, err)
	return b
}

// openAt is the open segment: its slot, its serial and how far it was filled.
func (t *Tier) openAt() (slot int, serial uint64, off int) {
	t.log.Mu.Lock()
	defer t.log.Mu.Unlock()
	if s := t.log.Open; s != nil {
		return s.Slot, s.Serial, s.End
	}
	return -1, 0, 0
}
