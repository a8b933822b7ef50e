package remote

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/remote/internal/servertest"
)

// mustNumber is the number of an id.
func (o opened) mustNumber(t *testing.T, id shared.ID, renew bool) uint64 {
	t.Helper()
	n, _, err := o.Number(t.Context(), id, renew)
	if err != nil {
		t.Fatal(err)
	}
	return n
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
		n := a.mustNumber(t, id, renew)
		b.store.wait(t, "of the number", func() bool { return b.store.numbers[id] == 1 })
		left := func() time.Duration { return time.Duration(s.Do("PTTL", a.names.Number(id)).Int) * time.Millisecond }
		if l := left(); l <= numberLife-time.Hour || l > numberLife {
			t.Fatalf("it lives for %v", l)
		}
		a.touchNumbers(slices.Repeat([]shared.ID{id}, 2*maxBatch)) // more than one request takes
		if told := b.store.numbers[id]; told != 1 {
			t.Errorf("a look was announced")
		}
		s.Do("PEXPIRE", a.names.Number(id), millis(numberLife-numberWorn-time.Second))
		a.touchNumbers([]shared.ID{id})
		if l := left(); l <= numberLife-time.Hour || l > numberLife {
			t.Errorf("it lives for %v after a renewal", l)
		}
		if again := b.mustNumber(t, id, false); again != n {
			t.Errorf("%d after the renewal of the life of %d", again, n)
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
	w := a.wire
	if err := w.replace(context.Background(), a.names.Number(id), shared.Expect{Version: shared.Version(old)}, marker(0, shared.Version(old)), numberLife); err != shared.ErrChanged {
		t.Errorf("%v: want ErrChanged", err)
	}
	if again := a.mustNumber(t, id, false); again != n {
		t.Errorf("%d: want %d", again, n)
	}
}
