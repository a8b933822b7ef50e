package remote

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/remote/internal/command"
	"github.com/firncache/firn/remote/internal/servertest"
	"github.com/firncache/firn/remote/internal/wire"
)

// mustNumber is the number of an id.
func (o opened) mustNumber(t *testing.T, id shared.ID, renew bool) uint64 {
	t.Helper()
	n, _, err := o.Number(t.Context(), id, renew)
	if err != nil {
		t.Fatal(err)
	}
	return n.Value
}

// mustExpire is the state of an id after its number has expired at a moment.
func (o opened) mustExpire(t *testing.T, id shared.ID, now int64) shared.NumberState {
	t.Helper()
	n, stamp, err := o.ExpireNumber(t.Context(), id, now)
	if err != nil || stamp == 0 {
		t.Fatal(err, stamp)
	}
	return n
}

// Numbers that have expired are remembered, the last ones, with their moments, and are announced; a
// renewal forgets them.
func TestExpireNumber(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	a, b := open(t, Options{}, s.Addr), open(t, Options{}, s.Addr)
	a.trusted(t)
	b.trusted(t)
	id := shared.ID{1}
	var numbers []uint64
	for i := range shared.MaxFormer + 3 {
		numbers = append(numbers, a.mustNumber(t, id, false))
		var told int
		b.store.wait(t, "of nothing", func() bool { told = b.store.numbers[id]; return true })
		n := a.mustExpire(t, id, int64(1000+i))
		b.store.wait(t, "of the expiry", func() bool { return b.store.numbers[id] > told })
		got, _, err := b.Number(t.Context(), id, false)
		if err != nil || got.Value != n.Value || n.Value == numbers[i] || len(got.Former) != min(i+1, shared.MaxFormer) {
			t.Fatalf("%+v, %v: want %+v", got, err, n)
		}
		for j, f := range got.Former {
			want := shared.FormerNumber{Value: numbers[i-j], Since: int64(1000 + i - j)}
			f.Since += b.unixOffset.Load() - a.unixOffset.Load()
			if f != want || n.Former[j] != want {
				t.Errorf("expiry %d: %+v and %+v: want %+v", i, f, n.Former[j], want)
			}
		}
	}
	a.mustNumber(t, id, true)
	if n, _, err := b.Number(t.Context(), id, false); err != nil || len(n.Former) != 0 {
		t.Errorf("%+v, %v after a renewal", n, err)
	}
}

// A number that is renewed while another process has it expire keeps none from before: an
// invalidated tag is not made stale.
func TestExpireNumberDuringRenewal(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	a, b := open(t, Options{}, s.Addr), open(t, Options{}, s.Addr)
	id := shared.ID{1}
	for range 100 {
		old := a.mustNumber(t, id, false)
		var both sync.WaitGroup
		both.Go(func() { a.mustExpire(t, id, 1000) })
		both.Go(func() { b.mustNumber(t, id, true) })
		both.Wait()
		if n, _, err := a.Number(t.Context(), id, false); err != nil || n.Value == old || n.StaleSince(old) != 0 {
			t.Fatalf("%+v, %v: %d was renewed", n, err, old)
		}
	}
}

// A number that is used stays on a server that evicts, though all its answers are local.
func TestNumbersInUseStay(t *testing.T) {
	s := servertest.Start(t, servertest.Options{MaxMemory: "6mb", Config: []string{"maxmemory-policy allkeys-lfu"}})
	a := open(t, Options{}, s.Addr)
	ids := make([]shared.ID, 4)
	before := make([]uint64, len(ids))
	for i := range ids {
		ids[i] = shared.ID{byte(i), 1}
		before[i] = a.mustNumber(t, ids[i], false)
	}
	for range 200 { // as in a few minutes of use
		a.touchNumbers(ids)
	}
	value := strings.Repeat("v", 10_000)
	for i := range 3000 {
		if i%100 == 0 {
			a.touchNumbers(ids)
		}
		s.Do("SET", fmt.Sprint("other", i), value)
		s.Do("GET", fmt.Sprint("other", i)) // as often as a number that is made and found
	}
	for i, id := range ids {
		if n := a.mustNumber(t, id, false); n != before[i] {
			t.Errorf("number %d was evicted", i)
		}
	}
}

// The life of a number in use is renewed once in a day, and no number lives for ever.
func TestLivesOfNumbers(t *testing.T) {
	for _, renew := range []bool{false, true} {
		s := servertest.Start(t, servertest.Options{})
		a, b := open(t, Options{}, s.Addr), open(t, Options{}, s.Addr)
		b.trusted(t)
		id := shared.ID{1}
		a.mustNumber(t, id, renew)
		b.store.wait(t, "of the number", func() bool { return b.store.numbers[id] == 1 })
		n := a.mustExpire(t, id, 1000)
		b.store.wait(t, "of the expiry", func() bool { return b.store.numbers[id] == 2 })
		left := func() time.Duration { return time.Duration(s.Do("PTTL", a.names.Number(id)).Int) * time.Millisecond }
		if l := left(); l <= numberLife-time.Hour || l > numberLife {
			t.Fatalf("it lives for %v", l)
		}
		a.touchNumbers(slices.Repeat([]shared.ID{id}, 2*wire.MaxBatch)) // more than one request takes
		if told := b.store.numbers[id]; told != 2 {
			t.Errorf("a look was announced")
		}
		s.Do("PEXPIRE", a.names.Number(id), command.Millis(numberLife-numberWorn-time.Second))
		a.touchNumbers([]shared.ID{id})
		if l := left(); l <= numberLife-time.Hour || l > numberLife {
			t.Errorf("it lives for %v after a renewal", l)
		}
		if again, _, err := a.Number(t.Context(), id, false); err != nil || !reflect.DeepEqual(again, n) {
			t.Errorf("%v, %v after the renewal of the life of %v", again, err, n)
		}
	}
}

// Between an eviction and the next one another process may have given the id another number, of
// which no push tells: an evicted number is never the one from before.
func TestEvictedNumberIsAnother(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	a := open(t, Options{}, s.Addr)
	a.trusted(t)
	id := shared.ID{1}
	seen := []uint64{a.mustNumber(t, id, false)}
	for round := range 3 {
		told := a.store.numbers[id]
		conn, err := s.Dial()
		if err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"MULTI"}, {"UNLINK", a.names.Number(id)}, {"SET", a.names.Number(id), marker(0, 7)}, {"UNLINK", a.names.Number(id)}, {"EXEC"}} {
			if _, err := conn.Do(args...); err != nil {
				t.Fatal(err)
			}
		}
		conn.Close()
		a.store.wait(t, "of the eviction", func() bool { return a.store.numbers[id] > told })
		n := a.mustNumber(t, id, false)
		if slices.Contains(append(seen, 7), n) {
			t.Errorf("round %d: %d came back", round, n)
		}
		seen = append(seen, n)
	}
}

// The life of a number is renewed only while it is that number.
func TestRenewalAfterClear(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	a := open(t, Options{}, s.Addr)
	id := shared.ID{1}
	old := a.mustNumber(t, id, false)
	n := a.mustNumber(t, id, true)
	if err := a.replace(context.Background(), a.wire(), a.names.Number(id), shared.Expect{Version: shared.Version(old)}, marker(0, shared.Version(old)), numberLife); err != shared.ErrChanged {
		t.Errorf("%v: want ErrChanged", err)
	}
	if again := a.mustNumber(t, id, false); again != n {
		t.Errorf("%d: want %d", again, n)
	}
}
