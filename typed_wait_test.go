package firn_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn/internal/vfs/vfstest"

	"github.com/firncache/firn"
)

// OnEvict may use everything that typed caches have, also when the write that
// it hears of is that of a namespace's record.
func TestOnEvictUsesTyped(t *testing.T) {
	t.Parallel()
	var c *firn.Cache
	var during string // the call that writes a record
	told := map[string]int{}
	nested := false
	var failed error
	use := func() error {
		again, err := firn.NewTyped(c, "again", firn.TypedOptions[int, int]{})
		if err != nil {
			return err
		}
		one, err := firn.NewTyped(c, "one", firn.TypedOptions[int, int]{})
		if err != nil {
			return err
		}
		_, err = firn.LookupValue[int](t.Context(), c, "k")
		if errors.Is(err, firn.ErrNotFound) {
			err = nil
		}
		return errors.Join(err, again.Clear(), one.Clear(), one.Set(1, 1), firn.SetValue(c, "k", 1), firn.DeleteValue(c, "k"))
	}
	c = openSmall(t, func(o *firn.Options) {
		o.OnEvict = func(_, _ []byte, _ firn.Cause) {
			if during == "" || nested {
				return
			}
			nested = true
			told[during]++
			failed = errors.Join(failed, use())
			nested = false
		}
	})
	for i := range 6_000 { // more than it holds
		key, value := numbered(i)
		if err := c.Set(key, value); err != nil {
			t.Fatal(err)
		}
	}
	returns(t, "a write of a record", func() {
		during = "NewTyped"
		for i := 0; told[during] == 0 && i < 20_000; i++ {
			newTyped(t, c, fmt.Sprint("space ", i), firn.TypedOptions[int, int]{})
		}
		one := newTyped(t, c, "one", firn.TypedOptions[int, int]{})
		during = "Clear"
		if err := one.Clear(); err != nil { // replaces the record
			t.Error(err)
		}
	})
	if failed != nil {
		t.Error(failed)
	}
	if told["NewTyped"] == 0 || told["Clear"] == 0 {
		t.Errorf("OnEvict was called %v: want it in NewTyped and in Clear, or the test shows nothing", told)
	}
}

// Whoever waits for a stuck disk, to learn whether there is a namespace, holds
// nobody else up, and whoever has a context no longer than that.
func TestNamespacesOnStuckDisk(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		mem := vfstest.NewMem()
		c := openOn(t, mem)
		if err := firn.SetValue(c, "k", "old"); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"known", "unknown"} {
			newTyped(t, c, name, firn.TypedOptions[int, int]{})
		}
		demote(t, c) // the records of the namespaces, too
		synctest.Wait()
		faulty := vfstest.NewFaulty(mem.CrashClone(nil, vfstest.Kill))
		c = openSmall(t, func(o *firn.Options) {
			o.SSD = firn.SSDOptions{Bytes: 64 << 20, SegmentBytes: 64 << 10, Admission: firn.AdmitAll}.On(faulty).With(patiently)
		})
		known := newTyped(t, c, "known", firn.TypedOptions[int, int]{})
		held := faulty.Inject(vfstest.Rule{On: vfstest.OpRead, Name: "log", Block: true})

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		expect := func() {
			t.Helper()
			begun := time.Now()
			_, err := firn.LookupValue[string](ctx, c, "k")
			if !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) > time.Second {
				t.Errorf("LookupValue: %v after %v, want its deadline after a second", err, time.Since(begun))
			}
		}
		expect()
		set, made := make(chan error), make(chan error)
		go func() { set <- firn.SetValue(c, "other", "new") }()
		go func() {
			_, err := firn.NewTyped(c, "unknown", firn.TypedOptions[int, int]{})
			made <- err
		}()
		synctest.Wait() // until both wait
		held.AwaitBlocked(1)
		expect()
		begun := time.Now()
		if err := errors.Join(known.Set(1, 1), known.Clear(), known.Set(2, 2)); err != nil {
			t.Error(err)
		}
		if v, ok := known.Get(2); !ok || v != 2 || time.Since(begun) != 0 {
			t.Errorf("Get: %d, %v, after %v", v, ok, time.Since(begun))
		}
		held.Remove()
		if err := errors.Join(<-set, <-made); err != nil {
			t.Error(err)
		}
		for key, want := range map[string]string{"k": "old", "other": "new"} {
			if v, err := firn.LookupValue[string](t.Context(), c, key); err != nil || v != want {
				t.Errorf("%s is %q, %v, want %q", key, v, err, want)
			}
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A typed cache reads what lies in RAM beside a stuck disk, also if the record of
// its namespace does not.
func TestRecordOnStuckDisk(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		faulty := vfstest.NewFaulty(vfstest.NewMem())
		c := openOn(t, faulty)
		typed := newTyped(t, c, "n", firn.TypedOptions[int, int]{})
		demote(t, c) // the record, too
		synctest.Wait()
		if err := typed.Set(1, 1); err != nil {
			t.Fatal(err)
		}
		held := faulty.Inject(vfstest.Rule{On: vfstest.OpRead, Name: "log", Block: true})
		for range 30_000 { // in some of them the record is looked for
			if v, ok := typed.Get(1); !ok || v != 1 {
				t.Fatalf("got %d, %v", v, ok)
			}
		}
		held.AwaitBlocked(1)
		before := c.Stats().SSD.Promotions
		held.Remove()
		synctest.Wait()
		if c.Stats().SSD.Promotions == before {
			t.Error("the record has not come back to RAM")
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}
