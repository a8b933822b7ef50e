package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/remote/internal/entry"
	"github.com/firncache/firn/remote/internal/faultproxy"
	"github.com/firncache/firn/remote/internal/servertest"
	"github.com/firncache/firn/remote/internal/wire"
)

// noise is what does not compress.
func noise(n int) string {
	b := make([]byte, n)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return string(b)
}

func TestValuesOfEveryLength(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	a, b := open(t, Options{MaxValueBytes: 2 << 20}, s.Addr), open(t, Options{}, s.Addr)
	for _, n := range []int{0, 1, 1023, 1024, firstPieceMulti - entry.Len, firstPieceMulti - entry.Len + 1, firstPiece - entry.Len - 1,
		firstPiece - entry.Len, firstPiece - entry.Len + 1, firstPiece + nextPiece - entry.Len, 2 << 20} {
		for _, value := range []string{noise(n), strings.Repeat("x", n)} {
			a.set(t, "k", value)
			if got, _ := b.get(t, "k"); got != value {
				t.Errorf("%d bytes come back as %d others", n, len(got))
			}
			b.ReadMulti(t.Context(), []shared.Query{{Key: []byte("k")}}, func(_ int, f shared.Found, err error) {
				if err != nil || string(f.Value) != value {
					t.Errorf("%d bytes come back as %d others in a batch: %v", n, len(f.Value), err)
				}
			})
		}
	}
	if n := a.stats().Compressed; n != 8 {
		t.Errorf("%d values compressed: want 8, those from 1 KiB on that are worth it", n)
	}
}

func TestTooLarge(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	small, large := open(t, Options{MaxValueBytes: 10}, s.Addr), open(t, Options{}, s.Addr)
	small.set(t, "k", "0123456789")
	_, err := small.Write(t.Context(), shared.Entry{Key: []byte("k"), Value: []byte("0123456789a")}, shared.Anything)
	if !errors.Is(err, shared.ErrTooLarge) {
		t.Fatalf("%v: want too large", err)
	}
	large.missing(t, "k") // what there was is older
	for _, value := range []string{"0123456789a", strings.Repeat("a", 4000)} {
		written := large.set(t, "k", value)
		if f := small.missing(t, "k"); f.Version != written.Version {
			t.Errorf("version %d: want that of the value, %d", f.Version, written.Version)
		}
	}
	if n := small.stats().TooLarge; n != 3 {
		t.Errorf("%d too large: want 3", n)
	}
}

// A long value is read in many requests, between which a PING finds its place.
func TestPieces(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	o := open(t, Options{}, s.Addr)
	o.set(t, "k", noise(2<<20))
	before := o.stats().Reads
	o.get(t, "k")
	if n, want := o.stats().Reads-before, uint64(1+(2<<20-firstPiece+nextPiece)/nextPiece+1); n != want {
		t.Errorf("read in %d requests: want %d", n, want)
	}
	before = o.stats().Reads
	o.ReadMulti(t.Context(), make([]shared.Query, 2), func(int, shared.Found, error) {})
	if n := o.stats().Reads - before; n != 2 {
		t.Errorf("two that are missing in %d requests", n)
	}
}

// What no cache has written is missing, whatever it is, and little of it is read.
func TestForeign(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	o := openTuned(t, Options{}, unnoticed, s.Addr) // half a gigabyte takes its time
	o.trusted(t)
	whole := string(entry.Append(nil, entry.Header{Version: 77}, []byte("value")))
	s.Do("SET", "test:kshort", "fr")
	s.Do("SET", "test:ktext", strings.Repeat("any text ", 100))
	s.Do("SET", "test:kformat", strings.Replace(whole, "fr\x01", "fr\x02", 1))
	s.Do("SET", "test:kcut", whole[:len(whole)-1])
	s.Do("SET", "test:kdamaged", strings.Replace(whole, "value", "Value", 1))
	s.Do("SET", "test:klonger", whole+"x")
	s.Do("SET", "test:kflags", strings.Replace(whole, "fr\x01\x00", "fr\x01\x80", 1))
	s.Do("SET", "test:kS2", string(entry.Append(nil, entry.Header{Version: 77, Flags: entry.FlagS2}, []byte("\xff\xff\xff\xff\x7f"))))
	s.Do("RPUSH", "test:klist", "x")
	s.Do("SETRANGE", "test:klong", "536870911", "x")
	s.Do("SETRANGE", "test:klong", "0", string(entry.Append(nil, entry.Header{Version: 77}, nil)))
	versions := map[string]shared.Version{"cut": 77, "damaged": 77, "longer": 77, "flags": 77, "S2": 77, "long": 77}
	keys := []string{"short", "text", "format", "cut", "damaged", "longer", "flags", "S2", "list", "long"}
	var queries []shared.Query
	for _, key := range keys {
		if f := o.missing(t, key); f.Version != versions[key] {
			t.Errorf("%s: version %d: want %d", key, f.Version, versions[key])
		}
		queries = append(queries, shared.Query{Key: []byte(key)})
	}
	o.ReadMulti(t.Context(), queries, func(i int, f shared.Found, err error) {
		if !errors.Is(err, shared.ErrNotFound) || f.Version != versions[keys[i]] || f.Value != nil {
			t.Errorf("%s: %+v, %v: want not found", keys[i], f, err)
		}
	})
	if st := o.stats(); st.Foreign != uint64(2*len(keys)) || st.BytesRead > 1<<18 {
		t.Errorf("%d foreign values, %d bytes read: want %d, and no long one", st.Foreign, st.BytesRead, 2*len(keys))
	}
	for _, key := range keys {
		o.set(t, key, "ours")
	}
}

// A long value that is written while its pieces are read is read whole, old or new.
func TestTornWhileRead(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	a, b := open(t, Options{CompressAbove: -1}, s.Addr), open(t, Options{}, s.Addr)
	values := map[string]bool{}
	for i := range 4 {
		values[strings.Repeat(string(rune('a'+i)), 700<<10)] = true
	}
	done := make(chan struct{})
	t.Cleanup(func() { <-done })
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	a.set(t, "k", strings.Repeat("a", 700<<10))
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			for value := range values {
				a.Write(ctx, shared.Entry{Key: []byte("k"), Value: []byte(value)}, shared.Anything)
			}
		}
	}()
	for range 50 {
		f, err := b.Read(t.Context(), nil, shared.Query{Key: []byte("k")})
		if err != nil && !errors.Is(err, shared.ErrUnavailable) || err == nil && !values[string(f.Value)] {
			t.Fatalf("%d bytes of %.10q…, %v", len(f.Value), f.Value, err)
		}
	}
	stop()
}

// A long value that is removed, leased or written while its pieces are read is missing then, or
// what was written, under its version.
func TestReplacedWhileRead(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	proxy, err := faultproxy.New(s.Addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	a, b := open(t, Options{CompressAbove: -1}, s.Addr), openTuned(t, Options{CompressAbove: -1}, unnoticed, proxy.Addr())
	long := strings.Repeat("a", 2*firstPiece)
	for name, envelope := range map[string][]byte{
		"a lease":     entry.Marker(entry.FlagLease, 7),
		"a tombstone": entry.Marker(entry.FlagTombstone, 7),
		"a value":     entry.Append(nil, entry.Header{Version: 7}, []byte("short")),
	} {
		a.set(t, name, long)
		second := strconv.Itoa(firstPiece) // from where on it is asked for
		reached := proxy.HoldFrom(faultproxy.ToServer, second)
		var f shared.Found
		done := make(chan error)
		go func() {
			var err error
			f, err = b.Read(t.Context(), nil, shared.Query{Key: []byte(name)})
			done <- err
		}()
		<-reached
		s.Do("SET", a.names.Entry([]byte(name)), string(envelope))
		proxy.Heal()
		err := <-done
		if h, value, _ := entry.Open(envelope); h.Valueless() != errors.Is(err, shared.ErrNotFound) || string(f.Value) != string(value) || f.Version != 7 {
			t.Errorf("%s: %q of version %d, %v", name, f.Value, f.Version, err)
		}
	}
}

func TestUnchanged(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	o := open(t, Options{}, s.Addr)
	written := o.set(t, "k", noise(4000))
	before := o.stats().BytesRead
	ask := func(have shared.Version) (f shared.Found) {
		o.ReadMulti(t.Context(), []shared.Query{{Key: []byte("k"), Have: have}}, func(_ int, g shared.Found, err error) {
			one, err1 := o.Read(t.Context(), []byte("dst"), shared.Query{Key: []byte("k"), Have: have})
			if err != nil || err1 != nil || g.Unchanged != one.Unchanged || "dst"+string(g.Value) != string(one.Value) {
				t.Fatalf("%+v, %v; alone %+v, %v", g, err, one, err1)
			}
			f = one
		})
		return f
	}
	if f := ask(written.Version); !f.Unchanged || f.Version != written.Version || f.Stamp == 0 {
		t.Errorf("%+v: want unchanged", f)
	}
	if n := o.stats().BytesRead - before; n != 2*entry.Len {
		t.Errorf("%d bytes read: want two headers, 64", n)
	}
	if f := ask(written.Version + 1); f.Unchanged || len(f.Value) != 4003 {
		t.Errorf("%+v: want the value", f)
	}
}

func TestBatches(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	a, b := open(t, Options{}, s.Addr), open(t, Options{}, s.Addr)
	b.trusted(t) // it is told from now on
	const n = 3*wire.MaxBatch + 1
	entries, keys, queries := make([]shared.Entry, n), make([][]byte, n), make([]shared.Query, n)
	for i := range entries {
		keys[i] = fmt.Appendf(nil, "key %d", i)
		entries[i] = shared.Entry{Key: keys[i], Value: fmt.Appendf(nil, "value %d", i)}
		queries[i].Key = keys[i]
	}
	entries[n-1] = shared.Entry{Key: keys[0], Value: []byte(noise(nextPiece))} // the last one counts
	entries[0].Value = entries[n-1].Value
	a.WriteMulti(t.Context(), entries, func(i int, w shared.Written, err error) {
		if err != nil || w.Version == 0 {
			t.Errorf("%d: %+v, %v", i, w, err)
		}
	})
	found := 0
	b.ReadMulti(t.Context(), queries, func(i int, f shared.Found, err error) {
		if err == nil && bytes.Equal(f.Value, entries[i].Value) {
			found++
		}
	})
	if found != n-1 {
		t.Errorf("%d of %d found", found, n-1)
	}
	b.store.wait(t, "of every write", func() bool { return len(b.store.keys) == n-1 })
	a.RemoveMulti(t.Context(), keys[:n/2], func(i int, err error) {
		if err != nil {
			t.Errorf("%d: %v", i, err)
		}
	})
	b.missing(t, string(keys[n/2-1]))
	b.get(t, string(keys[n/2]))
	if len(a.store.keys) != 0 {
		t.Errorf("a was told of %d of its own writes", len(a.store.keys))
	}
}

func TestClear(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	const odd = "a*b?[c]\\d"
	a, b := open(t, Options{Namespace: odd}, s.Addr), open(t, Options{Namespace: "axbxcxd"}, s.Addr)
	for i := range 2000 {
		a.set(t, fmt.Sprint(i), "v")
	}
	b.set(t, "k", "v")
	number, _, err := a.Number(t.Context(), shared.ID{1}, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Clear(t.Context()); err != nil {
		t.Fatal(err)
	}
	a.missing(t, "7")
	b.get(t, "k")
	if again, _, err := a.Number(t.Context(), shared.ID{1}, false); err != nil || again.Value != number.Value {
		t.Errorf("%v, %v: want the number to stay %v", again, err, number)
	}
	if n := s.Do("DBSIZE"); fmt.Sprint(n) == "" {
		t.Error("no size")
	}
}

func TestDeadlines(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	o := open(t, Options{TTL: time.Hour}, s.Addr)
	now := o.store.Now()
	for _, deadline := range []int64{0, now + 60_001, now + 60_000, -(now + 60_001), now - 5, now + 1<<40} {
		e := shared.Entry{Key: []byte("k"), Deadline: deadline}
		if _, err := o.Write(t.Context(), e, shared.Anything); err != nil {
			t.Fatal(err)
		}
		ms := s.Do("PTTL", "test:kk").Int
		want := int64(time.Hour / time.Millisecond)
		if d := max(deadline, -deadline); d != 0 && d-now < want {
			want = max(d-now, 1)
		}
		if ms > want || want > 0 && ms < want-20_000 && ms != -2 {
			t.Errorf("deadline in %d ms: the server keeps it for %d", deadline-now, ms)
		}
		if ms < 1000 {
			continue
		}
		if _, f := o.get(t, "k"); f.Deadline != deadline {
			t.Errorf("deadline %d comes back as %d", deadline, f.Deadline)
		}
	}
}

// Touch changes the deadline and the version, so that copies elsewhere end.
func TestTouch(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	a, b := open(t, Options{}, s.Addr), open(t, Options{}, s.Addr)
	b.trusted(t)
	k, now := []byte("k"), a.store.Now()
	if _, err := a.Touch(t.Context(), k, now+60_000); !errors.Is(err, shared.ErrNotFound) {
		t.Fatalf("%v: want not found", err)
	}
	before := a.set(t, "k", "value")
	after, err := a.Touch(t.Context(), k, now+60_000)
	if err != nil || after.Version == before.Version || after.Stamp == 0 {
		t.Fatalf("%+v after %+v, %v: want another version", after, before, err)
	}
	b.store.wait(t, "of both", func() bool { return b.store.keys["k"] == 2 })
	if value, f := b.get(t, "k"); value != "value" || f.Version != after.Version || f.Deadline != now+60_000 {
		t.Fatalf("%q, %+v", value, f)
	}
	for _, deadline := range []int64{-(now + 60_000), now - 1} {
		if _, err := a.Write(t.Context(), shared.Entry{Key: k, Deadline: deadline}, shared.Anything); err != nil {
			t.Fatal(err)
		}
		if _, err := a.Touch(t.Context(), k, 0); !errors.Is(err, shared.ErrNotFound) {
			t.Errorf("deadline %d: %v: want not found", deadline, err)
		}
	}
}

// All processes have the same number under an id, until one renews it.
func TestNumbers(t *testing.T) {
	s := servertest.Start(t, servertest.Options{})
	a, b := open(t, Options{}, s.Addr), open(t, Options{}, s.Addr)
	a.trusted(t) // a stamp is that of a connection
	b.trusted(t)
	id := shared.ID{1, 2, ':', '}'}
	number := func(o opened, renew bool) uint64 {
		t.Helper()
		n, stamp, err := o.Number(t.Context(), id, renew)
		if err != nil || n.Value == 0 || stamp == 0 {
			t.Fatalf("%v, %x, %v", n, stamp, err)
		}
		return n.Value
	}
	first := number(a, false)
	if n := number(b, false); n != first || number(a, false) != first {
		t.Fatalf("%d: want %d", n, first)
	}
	b.store.wait(t, "of the first", func() bool { return b.store.numbers[id] == 1 })
	second := number(a, true)
	b.store.wait(t, "of the second", func() bool { return b.store.numbers[id] == 2 })
	if n := number(b, false); second == first || n != second {
		t.Fatalf("%d: want %d, another than %d", n, second, first)
	}
	for _, foreign := range [][]string{{"SET", "x"}, {"SET", "0"}, {"SET", "123456789012345678901234"}, {"RPUSH", "x"}} {
		s.Do("DEL", b.names.Number(id))
		s.Do(foreign[0], b.names.Number(id), foreign[1])
		third := number(b, false)
		if n := number(a, false); n != third || third == second {
			t.Errorf("%v: %d: want %d", foreign, n, third)
		}
	}
}
