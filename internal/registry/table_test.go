package registry

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
)

const seed = 0x0123456789abcdef

func tableOf(places int) (*Table, []byte) {
	mem := make([]byte, Bytes(places))
	return New(mem, seed), mem
}

func tag(i int) ID       { return TagOf("n", fmt.Sprint("tag ", i)) }
func namespace(i int) ID { return IDOf(Namespace, fmt.Sprint("namespace ", i)) }

// note is the note of a value with some tags that begins now.
func (t *Table) note(tags ...int) []byte {
	var ids []ID
	for _, i := range tags {
		ids = append(ids, tag(i))
	}
	return t.AppendNote(nil, t.Clock(), ids)
}

// judge is Judge, but for the moment.
func (t *Table) judge(note []byte) Verdict {
	v, _ := t.Judge(note)
	return v
}

// A value holds until one of its tags is invalidated, and the next process says the same.
func TestInvalidate(t *testing.T) {
	t.Parallel()
	x, mem := tableOf(1 << 16)
	a, ab, b := x.note(1), x.note(1, 2), x.note(2)
	check := func(when string, want ...Verdict) {
		t.Helper()
		for name, y := range map[string]*Table{"this": x, "the next": New(mem, seed)} {
			for i, note := range [][]byte{a, ab, b} {
				if got := y.judge(note); got != want[i] {
					t.Errorf("%s, %s process judges note %d as %d: want %d", when, name, i, got, want[i])
				}
			}
		}
	}
	check("at first", Holds, Holds, Holds)
	x.Invalidate(tag(1))
	check("without 1", Obsolete, Obsolete, Holds)
	a = x.note(1)
	check("with another 1", Holds, Obsolete, Holds)
}

// A place that was saved between the two stores of its first Expire has no moment: what expired did
// so long ago, and not never.
func TestExpiredWithoutAMoment(t *testing.T) {
	x, _ := tableOf(1 << 16)
	note := x.note(1)
	x.Expire(tag(1), 1000, 10)
	for i := range x.places {
		x.places[i].moment.Store(0)
	}
	if v, since := x.Judge(note); v != Expired || since != 1 {
		t.Errorf("judged as %d since %d: want %d since 1", v, since, Expired)
	}
}

// A value of which a tag expires is expired since that moment, of several the first, and obsolete when one is
// invalidated, or has expired for too long when it expires again.
func TestExpire(t *testing.T) {
	t.Parallel()
	x, mem := tableOf(1 << 16)
	a, ab, b := x.note(1), x.note(1, 2), x.note(2)
	check := func(when string, verdicts [3]Verdict, moments [3]int64) {
		t.Helper()
		z, _ := tableOf(1 << 16)
		z.Restore(x.Save())
		for name, y := range map[string]*Table{"this": x, "the next": New(mem, seed), "one that was saved": z} {
			for i, note := range [][]byte{a, ab, b} {
				if v, since := y.Judge(note); v != verdicts[i] || since != moments[i] {
					t.Errorf("%s, %s table judges note %d as %d since %d: want %d since %d", when, name, i, v, since, verdicts[i], moments[i])
				}
			}
		}
	}
	x.Expire(tag(2), 1000, 10)
	check("without 2", [3]Verdict{Holds, Expired, Expired}, [3]int64{0, 1000, 1000})
	x.Expire(tag(1), 1005, 10)
	check("without 1", [3]Verdict{Expired, Expired, Expired}, [3]int64{1005, 1000, 1000})
	x.Expire(tag(2), 1009, 10)
	check("within its time", [3]Verdict{Expired, Expired, Expired}, [3]int64{1005, 1005, 1009})
	b = x.note(2)
	check("with another 2", [3]Verdict{Expired, Expired, Holds}, [3]int64{1005, 1005, 0})
	x.Expire(tag(1), 1015, 10)
	check("afterwards", [3]Verdict{Obsolete, Obsolete, Holds}, [3]int64{})
	a = x.note(1)
	x.Expire(tag(1), 1016, 10)
	check("with another 1", [3]Verdict{Expired, Obsolete, Holds}, [3]int64{1016, 0, 0})
	renewed := x.Renew([]byte("head"), x.Clock(), a)
	if v := x.judge(renewed[4:]); v != Holds || string(renewed[:4]) != "head" {
		t.Errorf("a renewed note is judged as %d", v)
	}
	x.Expire(tag(1), 1017, 10)
	if v := x.judge(renewed[4:]); v != Expired {
		t.Errorf("a renewed note is judged as %d when it has expired", v)
	}
	x.Invalidate(tag(1))
	check("when it was invalidated", [3]Verdict{Obsolete, Obsolete, Holds}, [3]int64{})
}

// A table of another size knows what expired, and since when at the latest.
func TestExpireMoves(t *testing.T) {
	t.Parallel()
	x, _ := tableOf(1 << 10)
	var notes [][]byte
	for i := range 300 {
		notes = append(notes, x.note(i))
	}
	for i := range 100 {
		x.Expire(tag(i), int64(1000+i), 1<<20)
	}
	for _, places := range sizes {
		y, _ := tableOf(places)
		y.Copy(x)
		z, _ := tableOf(places)
		z.Restore(x.Save())
		for i, note := range notes {
			v, since := x.Judge(note)
			for _, moved := range []*Table{y, z} {
				if got, at := moved.Judge(note); got != v && places >= 1<<10 || got == Holds && v != Holds || v == Expired && (at > since || at != since && places >= 1<<10) {
					t.Errorf("%d places: note %d is judged as %d since %d, and was as %d since %d", places, i, got, at, v, since)
				}
			}
		}
	}
}

// Once Expire has returned, no note from before it holds, and its moment is not one from before, however many
// run at once.
func TestExpireAtOnce(t *testing.T) {
	t.Parallel()
	x, _ := tableOf(MinPlaces)
	var acked atomic.Int64
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			for range 20_000 {
				note := x.note(1, 2)
				before := acked.Load()
				if v, since := x.Judge(note); v == Expired && since < before {
					t.Errorf("expired since %d, and that at %d was before the note", since, before)
					return
				}
			}
		})
	}
	for now := range int64(20_000) {
		note := x.note(1)
		x.Expire(tag(1), now+1, 1<<30)
		acked.Store(now + 1)
		if v, since := x.Judge(note); v != Expired || since != now+1 {
			t.Fatalf("after it has expired at %d: %d since %d", now+1, v, since)
		}
	}
	all.Wait()
}

// What was noted before the clock was raised is obsolete however late the note is made, and what
// was noted afterwards is not.
func TestNoteOfAnEarlierMoment(t *testing.T) {
	t.Parallel()
	x, _ := tableOf(MinPlaces)
	x.Invalidate(tag(1))
	begun := x.Clock()
	if v := x.judge(x.AppendNote(nil, begun, []ID{tag(1)})); v != Holds {
		t.Errorf("what began after the invalidation: %d", v)
	}
	x.Invalidate(tag(1))
	if v := x.judge(x.AppendNote(nil, begun, []ID{tag(1)})); v != Obsolete {
		t.Errorf("what began before the invalidation: %d", v)
	}
}

// An invalidation that is overtaken by a later one does not make its place older.
func TestPlacesGrow(t *testing.T) {
	t.Parallel()
	x, _ := tableOf(MinPlaces)
	at := &x.at(x.hash(tag(1))).invalidated
	at.Store(5) // by one that began later
	raise(at, 1)
	if got := at.Load(); got != 5 {
		t.Errorf("the place has %d, want 5", got)
	}
}

// No note holds, nor counts as obsolete, that another table made, or nobody did.
func TestForeignNotes(t *testing.T) {
	t.Parallel()
	x, _ := tableOf(MinPlaces)
	other, _ := tableOf(MinPlaces)
	note := x.note(1, 2, 3)
	if v := other.judge(note); v != Foreign {
		t.Errorf("another table judges it as %d", v)
	}
	for i := range note {
		forged := bytes.Clone(note)
		forged[i] ^= 1
		if v := x.judge(forged); v != Foreign {
			t.Errorf("with byte %d changed it is judged as %d", i, v)
		}
	}
	if v := x.judge(make([]byte, NoteLen(1))); v != Foreign {
		t.Errorf("zeros are judged as %d", v)
	}
	if x.End(); x.judge(note) != Foreign {
		t.Error("a note holds in a table whose memory may be gone")
	}
}

// However many tags there are, a value is found until its own place is invalidated, and never
// after one of its tags was.
func TestManyTags(t *testing.T) {
	t.Parallel()
	x, _ := tableOf(1 << 10)
	const n = 20_000
	notes := make([][]byte, n)
	for i := range notes {
		notes[i] = x.note(i)
	}
	for i, note := range notes {
		if x.judge(note) != Holds {
			t.Fatalf("tag %d does not hold, and nothing was invalidated", i)
		}
	}
	x.Invalidate(tag(7))
	lost := 0
	for _, note := range notes {
		if x.judge(note) != Holds {
			lost++
		}
	}
	if x.judge(notes[7]) != Obsolete || lost > n/200 {
		t.Errorf("%d of %d values are lost with one place of %d, the invalidated one as %d", lost, n, x.Places(), x.judge(notes[7]))
	}
}

// A namespace has its generation until it is cleared, in the next process too, and none that it
// had before.
func TestGenerations(t *testing.T) {
	t.Parallel()
	x, mem := tableOf(MinPlaces)
	rng := rand.New(rand.NewPCG(1, 2))
	dead, live := map[uint64]ID{}, map[ID]uint64{}
	for step := range 20_000 {
		if step%500 == 0 {
			x = New(mem, seed)
		}
		id := namespace(rng.IntN(400))
		g := x.Generation(id)
		if rng.IntN(20) == 0 {
			g = x.Clear(id)
			if before, ok := live[id]; ok && before == g {
				t.Fatalf("cleared, %x has the same generation", id)
			}
		}
		if old, ok := live[id]; ok && old != g {
			dead[old] = id
		}
		if of, ok := dead[g]; ok {
			t.Fatalf("generation %x of %x came back at step %d, as one of %x", g, of, step, id)
		}
		live[id] = g
	}
}

// The first generations are the same for whoever has lost the table, with the seed alone, and
// what follows is not.
func TestFirstGenerations(t *testing.T) {
	t.Parallel()
	a, _ := tableOf(MinPlaces)
	b, _ := tableOf(1 << 10)
	other := New(make([]byte, Bytes(MinPlaces)), seed+1)
	for i := range 10 {
		if g := a.Generation(namespace(i)); b.Generation(namespace(i)) != g || other.Generation(namespace(i)) == g {
			t.Errorf("namespace %d: %x, and %x in the next table", i, g, b.Generation(namespace(i)))
		}
	}
	if a.Clear(namespace(1)) == b.Clear(namespace(1)) {
		t.Error("two tables clear a namespace alike")
	}
}

// sizes are tables that another one moves to.
var sizes = []int{1 << 12, 1 << 10, 1 << 8, MinPlaces}

// A table of another size knows every invalidation and every Clear, however it was moved, and as
// much more as it has fewer places.
func TestMoves(t *testing.T) {
	t.Parallel()
	x, _ := tableOf(1 << 10)
	for name, move := range map[string]func(y *Table){
		"copied": func(y *Table) { y.Copy(x) },
		"saved": func(y *Table) {
			if !y.Restore(x.Save()) {
				t.Error("what was saved cannot be restored")
			}
		},
	} {
		var notes [][]byte
		for i := range 300 {
			notes = append(notes, x.note(i))
		}
		for i := range 20 {
			x.Invalidate(tag(i))
			x.Clear(namespace(i))
		}
		for _, places := range sizes {
			y, mem := tableOf(places)
			move(y)
			y = New(mem, seed)
			lost := 0
			for i, note := range notes {
				switch got := y.judge(note); {
				case got == Foreign, got == Holds && x.judge(note) == Obsolete:
					t.Errorf("%s to %d places: note %d is judged as %d", name, places, i, got)
				case got != x.judge(note):
					lost++
				}
			}
			if places >= x.Places() && lost > 0 {
				t.Errorf("%s to %d places: %d values are lost", name, places, lost)
			}
			for i := range 40 {
				if id := namespace(i); places >= x.Places() && y.Generation(id) != x.Generation(id) {
					t.Errorf("%s to %d places: namespace %d has another generation", name, places, i)
				}
			}
			if y.Clock() != x.Clock() {
				t.Errorf("%s to %d places: the clock is %d, want %d", name, places, y.Clock(), x.Clock())
			}
		}
	}
}

// A namespace that moves between tables of two sizes again and again never has a generation
// again that it had before a Clear.
func TestGenerationsMove(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	x, _ := tableOf(1 << 8)
	dead, live := map[uint64]bool{}, map[ID]uint64{}
	for step := range 2_000 {
		if step%20 == 0 {
			y, _ := tableOf(MinPlaces << rng.IntN(5))
			y.Copy(x)
			x = y
		}
		id := namespace(rng.IntN(200))
		dead[live[id]] = true
		live[id] = x.Clear(id)
		for id, old := range live {
			g := x.Generation(id)
			if g != old {
				dead[old] = true
			}
			if dead[g] {
				t.Fatalf("step %d: %x has the generation again that it had before a Clear", step, id)
			}
			live[id] = g
		}
	}
}

// With a table that was damaged no value with tags holds, and every namespace has another
// generation, one that was never cleared too; and so it stays.
func TestLose(t *testing.T) {
	t.Parallel()
	x, _ := tableOf(MinPlaces)
	first, cleared, note := x.Generation(namespace(1)), x.Clear(namespace(2)), x.note(1)
	damages := map[string]func(saved []Words) []Words{
		"nothing":        func([]Words) []Words { return nil },
		"no epoch":       func(s []Words) []Words { s[0][0] = 0; return s },
		"odd places":     func(s []Words) []Words { s[0][3] = 65; return s },
		"few places":     func(s []Words) []Words { s[0][3] = 32; return s },
		"a high place":   func(s []Words) []Words { s[1][0] = MinPlaces; return s },
		"a late place":   func(s []Words) []Words { s[1][2] = 99; return s },
		"a later place":  func(s []Words) []Words { s[1][1] = 99; return s },
		"late to expire": func(s []Words) []Words { s[1][3] = 99; return s },
	}
	for name, damage := range damages {
		y, mem := tableOf(MinPlaces)
		if y.Restore(damage(x.Save())) {
			t.Errorf("%s: it is taken for a table", name)
		}
		for _, y := range []*Table{y, New(mem, seed)} {
			if y.judge(note) != Foreign || y.Generation(namespace(1)) == first || y.Generation(namespace(2)) == cleared {
				t.Errorf("%s: something holds", name)
			}
		}
	}
}

// A process that is killed between the clock and the place of an invalidation, which has not
// returned, leaves a table in which every other note is judged as before; and what is noted
// then is made obsolete by the next invalidation.
func TestKilledWhileInvalidating(t *testing.T) {
	t.Parallel()
	x, mem := tableOf(MinPlaces)
	before := x.note(1)
	x.head.clock.Add(1) // and it dies
	y := New(bytes.Clone(mem), seed)
	if y.judge(before) != Holds {
		t.Error("an invalidation that did not happen is found")
	}
	after := y.note(1)
	y.Invalidate(tag(1))
	if y.judge(before) != Obsolete || y.judge(after) != Obsolete {
		t.Error("an invalidation is lost")
	}
}

// Once an invalidation has returned, no note from before it holds, however many run at once.
func TestInvalidateAtOnce(t *testing.T) {
	t.Parallel()
	x, _ := tableOf(MinPlaces)
	var source, acked atomic.Uint64
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			for range 20_000 {
				begun := x.Clock()
				v := source.Load()
				note := x.AppendNote(nil, begun, []ID{tag(1), tag(2)})
				if done := acked.Load(); x.judge(note) == Holds && v < done {
					t.Errorf("a value of %d holds, after %d was invalidated", v, done)
					return
				}
			}
		})
	}
	for range 20_000 {
		v := source.Add(1)
		x.Invalidate(tag(1))
		acked.Store(v)
		x.Invalidate(tag(3))
	}
	all.Wait()
}

// Any bytes are a table.
func FuzzTable(f *testing.F) {
	x, mem := tableOf(MinPlaces)
	x.Invalidate(tag(1))
	x.Clear(namespace(1))
	f.Add(mem[:200])
	f.Fuzz(func(t *testing.T, b []byte) {
		mem := make([]byte, Bytes(MinPlaces))
		copy(mem, b)
		x := New(mem, seed)
		y := New(make([]byte, Bytes(2*MinPlaces)), seed)
		y.Copy(x)
		if z := New(make([]byte, Bytes(MinPlaces)), seed); !z.Restore(x.Save()) {
			z.Invalidate(tag(1))
		}
	})
}

func TestSizes(t *testing.T) {
	t.Parallel()
	var got []int
	for _, bytes := range []int64{0, 1 << 10, 4 << 10, 16 << 10, 1 << 20, 1 << 23, 1 << 50} {
		got = append(got, PlacesFor(bytes))
	}
	if want := []int{64, 64, 128, 512, 32768, 262144, MaxPlaces}; !slices.Equal(got, want) {
		t.Errorf("%v places, want %v", got, want)
	}
	x := Alloc(128, 1)
	if x.Invalidate(tag(1)); x.Places() != 128 || x.Clock() != 1 {
		t.Errorf("%d places, a clock of %d", x.Places(), x.Clock())
	}
	x.Free()
}

// A value with 4 tags lives for a quarter as many invalidations, on average, as there are places:
// with 100 a second, for as long as docs/CAPACITY.md says.
func TestMeanLife(t *testing.T) {
	t.Parallel()
	for bytes, seconds := range map[int64]float64{16 << 20: 10.24, 1 << 30: 655.36, 16 << 30: 10485.76} {
		if got := float64(PlacesFor(bytes/Share)) / 4 / 100; got != seconds {
			t.Errorf("%d bytes: %v s, want %v", bytes, got, seconds)
		}
	}
	x, _ := tableOf(1 << 10)
	const values = 400
	lived, next := 0, 10*values
	for i := range values {
		note := x.note(4*i, 4*i+1, 4*i+2, 4*i+3)
		for ; x.judge(note) == Holds; lived++ {
			x.Invalidate(tag(next))
			next++
		}
	}
	if mean, want := float64(lived)/values, 256.0; mean < .85*want || mean > 1.15*want {
		t.Errorf("a value lives for %v invalidations, want about %v", mean, want)
	}
}
