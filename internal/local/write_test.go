package local

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/firncache/firn/internal/evicted"
	"github.com/firncache/firn/internal/watch"
)

// recorder notes what a hook is told, and what RAM holds of the key by then.
type recorder struct {
	s     *Store
	calls []string
}

func (r *recorder) note(call string, key []byte) {
	v, ok := r.s.peekFresh(key)
	r.calls = append(r.calls, fmt.Sprintf("%s %s: %s %v", call, key, v, ok))
}

func (r *recorder) BeforeWrite(key []byte) any { r.note("before", key); return r }

func (r *recorder) AfterWrite(key []byte, token any) {
	if token != any(r) {
		r.note("after, without a token,", key)
		return
	}
	r.note("after", key)
}

func (r *recorder) Clear(forever bool, do func()) {
	r.calls = append(r.calls, fmt.Sprint("clear ", forever))
	do()
}

func open(t *testing.T) *Store {
	t.Helper()
	s := new(Store)
	if err := s.Open(Config{RAMBytes: 1 << 20}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.setKey([]byte("k"), []byte("old"), 0); err != nil {
		t.Fatal(err)
	}
	return s
}

// peekFresh is what RAM holds of a key.
func (s *Store) peekFresh(key []byte) ([]byte, bool) {
	v, _, state := s.PeekRAM(s.Hash(key), nil, key)
	return v, state == Fresh
}

// writes are all the ways to change a key, with the value afterwards.
var writes = map[string]struct {
	write func(s *Store) error
	after string
}{
	"Set":      {func(s *Store) error { return s.setKey([]byte("k"), []byte("new"), 0) }, "new true"},
	"SetMulti": {func(s *Store) error { return s.SetMulti([][]byte{[]byte("k")}, [][]byte{[]byte("new")}, 0, nil) }, "new true"},
	"Delete":   {func(s *Store) error { return s.Delete([]byte("k")) }, " false"},
	"SetIf": {func(s *Store) error {
		return watched(s, func(w *watch.Watch, ev *evicted.List) error { return s.SetIf(w, []byte("k"), []byte("new"), 0, ev) })
	}, "new true"},
	"DeleteIf": {func(s *Store) error {
		return watched(s, func(w *watch.Watch, ev *evicted.List) error { return s.DeleteIf(w, []byte("k"), ev) })
	}, " false"},
	"Touch":          {func(s *Store) error { _, err := s.Touch(context.Background(), []byte("k"), s.Now()+1000); return err }, "old true"},
	"DeleteIfEqual":  {func(s *Store) error { return s.DeleteIfEqual(context.Background(), []byte("k"), []byte("old")) }, " false"},
	"one that fails": {func(s *Store) error { return tooLarge(s.setKey([]byte("k"), make([]byte, 1<<20), 0)) }, " false"},
	"one too late":   {func(s *Store) error { return late(s) }, "old true"},
	"SetMulti failing": {func(s *Store) error {
		return tooLarge(s.SetMulti([][]byte{[]byte("k")}, [][]byte{make([]byte, 1<<20)}, 0, nil))
	}, " false"},
}

func watched(s *Store, write func(w *watch.Watch, ev *evicted.List) error) error {
	var w watch.Watch
	var ev evicted.List
	s.Watch(&w, s.Hash([]byte("k")), []byte("k"))
	defer s.Unwatch(&w)
	return write(&w, &ev)
}

// late is a conditional write of a key that was written since.
func late(s *Store) error {
	return watched(s, func(w *watch.Watch, ev *evicted.List) error {
		w.Void()
		return s.SetIf(w, []byte("k"), []byte("new"), 0, ev)
	})
}

func tooLarge(err error) error {
	if !errors.Is(err, ErrTooLarge) {
		return fmt.Errorf("%v: want ErrTooLarge", err)
	}
	return nil
}

// Every write of a key, also one that fails, tells the hook before and after.
func TestWriteProtocol(t *testing.T) {
	for name, w := range writes {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			r := &recorder{s: s}
			s.SetWriteHook(r)
			if err := w.write(s); err != nil {
				t.Error(err)
			}
			if want := []string{"before k: old true", "after k: " + w.after}; !slices.Equal(r.calls, want) {
				t.Errorf("the hook was told %q, want %q", r.calls, want)
			}
		})
	}
}

// attaching is a hook during whose first call another one comes.
type attaching struct{ attach func() }

func (a *attaching) BeforeWrite([]byte) any { a.attach(); return nil }

func (a *attaching) AfterWrite([]byte, any) {}

func (a *attaching) Clear(_ bool, do func()) { a.attach(); do() }

// A hook that comes during a write is told after it, without a token; one that
// comes while the tiers are emptied is told to empty what it has.
func TestHookDuringWrite(t *testing.T) {
	for name, w := range writes {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			r := &recorder{s: s}
			s.SetWriteHook(&attaching{func() { s.SetWriteHook(r) }})
			if err := w.write(s); err != nil {
				t.Error(err)
			}
			if want := []string{"after, without a token, k: " + w.after}; !slices.Equal(r.calls, want) {
				t.Errorf("the hook was told %q, want %q", r.calls, want)
			}
		})
	}
}

func TestHookOfAllKeys(t *testing.T) {
	s := open(t)
	r := &recorder{s: s}
	s.SetWriteHook(r)
	if err := s.Clear(); err != nil || s.Len() != 0 {
		t.Errorf("Clear: %v, %d records are left", err, s.Len())
	}
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if err := s.setKey([]byte("k"), nil, 0); err != ErrClosed {
		t.Errorf("Set after Close: %v", err)
	}
	if want := []string{"clear false", "clear true", "before k:  false", "after k:  false"}; !slices.Equal(r.calls, want) {
		t.Errorf("the hook was told %q, want %q", r.calls, want)
	}
}

// A hook that comes while all keys are emptied, and was not there before, is told
// afterwards.
func TestHookDuringClear(t *testing.T) {
	s := open(t)
	r := &recorder{s: s}
	s.emptied(false, func() { s.SetWriteHook(r) })
	if want := []string{"clear false"}; !slices.Equal(r.calls, want) {
		t.Errorf("the hook was told %q, want %q", r.calls, want)
	}
}

func (s *Store) setKey(key, value []byte, deadline int64) error {
	return s.Set(s.Prefetch(key), key, value, deadline)
}

// A batch of any length tells the hook of each of its writes, before and after.
func TestHookOfBatch(t *testing.T) {
	s := open(t)
	r := &recorder{s: s}
	s.SetWriteHook(r)
	var keys, values [][]byte
	told := map[string]bool{}
	for i := range 2*writeWindow + 5 {
		key := fmt.Sprintf("key %d", i)
		keys, values = append(keys, []byte(key)), append(values, []byte("new"))
		told["before "+key+":  false"], told["after "+key+": new true"] = false, false
	}
	if err := s.SetMulti(keys, values, 0, nil); err != nil {
		t.Fatal(err)
	}
	for _, call := range r.calls {
		if was, ok := told[call]; was || !ok {
			t.Errorf("the hook was told %q, twice or out of place", call)
		}
		told[call] = true
	}
	for call, was := range told {
		if !was {
			t.Errorf("the hook was not told %q", call)
		}
	}
}
