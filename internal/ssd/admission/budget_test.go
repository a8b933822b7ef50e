package admission

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/firncache/firn/internal/invariants"
	"github.com/firncache/firn/internal/ssd/format"
)

// spender is a tier that obeys its budget. A bucket beside it says what it ought
// not to have written: within t days more than t+1 budgets.
type spender struct {
	budget
	clock   int64 // as the budget sees it
	allowed float64
	record  int
	waste   float64 // bytes written without asking for each that is admitted
	moves   float64 // bytes that are moved for each that is admitted, if they may be
	hash    uint64
	wrote   float64
	offered [2]float64 // bytes, by worth
	let     [2]float64
	saved   format.BudgetState // on the disk
	fail    func(format string, args ...any)
}

func newSpender(bytesADay int64, fail func(string, ...any)) *spender {
	s := &spender{clock: 20_000*dayMillis + hourMillis/2, allowed: float64(bytesADay), record: int(max(bytesADay/1e6, 1)), fail: fail}
	s.start(bytesADay)
	s.save()
	return s
}

func (s *spender) start(bytesADay int64) {
	s.budget = budget{}
	s.Init(bytesADay, func() int64 { return s.clock })
}

// pass lets time pass, on a clock that goes right.
func (s *spender) pass(millis int64) {
	s.clock += millis
	s.allow(millis)
}

func (s *spender) allow(millis int64) {
	s.allowed = min(float64(s.day), s.allowed+float64(s.day)*float64(millis)/dayMillis)
}

func (s *spender) write(bytes float64) {
	if bytes = math.Floor(bytes); bytes == 0 {
		return
	}
	s.budget.Wrote(int(bytes))
	s.wrote += bytes
	s.allowed -= bytes
	s.save()
	if most := (2 + s.waste + s.moves) * float64(s.record); s.allowed < -most {
		s.fail("%.0f bytes more were written than a budget of %d allows", -s.allowed, s.day)
	}
}

// offer offers so many bytes of some worth.
func (s *spender) offer(w worth, bytes float64) {
	for ; bytes >= float64(s.record); bytes -= float64(s.record) {
		s.hash++
		s.offered[w] += float64(s.record)
		if !s.Admit(w, s.hash, s.record) {
			continue
		}
		s.let[w] += float64(s.record)
		s.write(float64(s.record) * (1 + s.waste))
		if s.moves > 0 && s.mayRewrite() {
			s.write(float64(s.record) * s.moves)
		}
	}
}

// load offers for so long, in steps, so many times what the budget would take;
// a share of it has proved its worth.
func (s *spender) load(millis, step int64, times, share float64) {
	var owed [2]float64
	for ; millis > 0; millis -= step {
		s.pass(step)
		bytes := times * float64(s.day) * float64(step) / dayMillis
		for w, part := range [2]float64{1 - share, share} {
			owed[w] += bytes * part
			s.offer(worth(w), owed[w])
			owed[w] = math.Mod(owed[w], float64(s.record))
		}
	}
}

// reopen starts anew, after Close or after a kill.
func (s *spender) reopen(closed bool) {
	if closed {
		s.saved = s.State(true)
	}
	s.start(s.day)
	s.Resume(s.saved)
	s.save()
}

func (s *spender) save() {
	if s.Due() {
		s.saved = s.State(false)
	}
}

// Whatever is offered and whenever it starts anew: within t days a tier that obeys
// writes no more than t+1 budgets.
func TestBudgetIsKept(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := newSpender(rapid.Int64Range(1e6, 1e13).Draw(t, "budget"), t.Fatalf)
		s.record = int(max(float64(s.day)*rapid.SampledFrom([]float64{1e-3, 1e-2}).Draw(t, "record"), 1))
		s.waste = rapid.Float64Range(0, 1).Draw(t, "waste")
		s.moves = rapid.Float64Range(0, 4).Draw(t, "moves")
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			switch rapid.SampledFrom([]string{"load", "burst", "rest", "close", "kill", "clock"}).Draw(t, "step") {
			case "load":
				s.load(hourMillis*rapid.Int64Range(1, 48).Draw(t, "hours"), 60_000*rapid.Int64Range(1, 60).Draw(t, "minutes"),
					rapid.SampledFrom([]float64{.1, .9, 2, 20}).Draw(t, "times"), rapid.Float64Range(0, 1).Draw(t, "proven"))
			case "burst":
				s.offer(rapid.SampledFrom([]worth{unproven, proven}).Draw(t, "worth"), 3*float64(s.day))
			case "rest":
				s.pass(hourMillis * rapid.Int64Range(0, 72).Draw(t, "hours"))
			case "close":
				s.reopen(true)
			case "kill":
				s.reopen(false)
			case "clock": // put forward, it brings what that time would
				by := hourMillis * rapid.Int64Range(-240, 240).Draw(t, "hours")
				s.clock += by
				s.allow(max(by, 0))
			}
		}
	})
}

// A process that is killed again and again writes no more than one that lives.
func TestBudgetIsKeptByTheKilled(t *testing.T) {
	t.Parallel()
	s := newSpender(1e9, t.Fatalf)
	s.record = 1000
	for range 500 {
		s.offer(proven, float64(s.lease())/3)
		s.reopen(false)
	}
	if s.wrote == 0 || s.Admit(proven, 1, s.record) {
		t.Errorf("%.0f bytes were written, and there is no end of it", s.wrote)
	}
}

// What is offered below the budget gets in, also where nights are quiet and days
// are not, and where all of it comes within ten minutes.
func TestBudgetAdmitsWhatFits(t *testing.T) {
	t.Parallel()
	s := newSpender(1e9, t.Fatalf)
	s.record, s.waste = 10_000, .05
	for range 5 {
		s.load(8*hourMillis, 60_000, 2, .2)
		s.load(16*hourMillis, 60_000, .2, .2)
	}
	for range 3 {
		s.load(hourMillis/6, 10_000, .6*6*24, 0)
		s.pass(23 * hourMillis)
	}
	if n := s.refused.Load(); n > 0 || s.short() {
		t.Errorf("%d of %.0f records were refused", n, (s.offered[0]+s.offered[1])/float64(s.record))
	}
}

// What is offered above the budget gets in as far as that allows, nearly to the
// byte, and what has proved its worth is first.
func TestBudgetIsUsed(t *testing.T) {
	t.Parallel()
	for _, times := range []float64{1.5, 10} {
		for _, share := range []float64{0, .1, 1} {
			if invariants.Race && share != .1 { // one goroutine
				continue
			}
			for _, moves := range []float64{0, 2} {
				t.Run(fmt.Sprintf("%v times, %v proven, %v moved", times, share, moves), func(t *testing.T) {
					s := newSpender(1e9, t.Fatalf)
					s.record, s.waste, s.moves = 100_000, .05, moves
					s.load(2*dayMillis, 20_000, times, share)
					wrote, offered, let := s.wrote, s.offered[1], s.let[1]
					for range 2 {
						s.load(dayMillis/2, 20_000, times, share)
						s.reopen(true)
						s.load(dayMillis/2, 20_000, times, share)
						s.reopen(false)
					}
					if used := (s.wrote - wrote) / 2 / float64(s.day); used < .95 || used > 1.1 {
						t.Errorf("%.3f of the budget was used", used)
					}
					wanted := s.offered[1] - offered
					got := s.let[1] - let
					room := 2 * float64(s.day) / (1 + s.waste + s.moves)
					if got < min(wanted, .95*room) {
						t.Errorf("%.2g of %.2g proven bytes got in, and there was room for %.2g", got, wanted, room)
					}
				})
			}
		}
	}
}

// Close saves what RAM holds as long as there is anything left, and moving has to
// stop then too.
func TestBudgetEnds(t *testing.T) {
	t.Parallel()
	s := newSpender(1e9, t.Fatalf)
	s.record = 50_000
	s.load(2*dayMillis, 30_000, 30, .9)
	if !s.mayRewrite() || !s.Admit(leaving, 1, 1000) {
		t.Errorf("nothing is left for what is better than a new record")
	}
	s.budget.Wrote(int(s.left.Load()))
	if s.mayRewrite() || s.Admit(leaving, 1, 1000) {
		t.Errorf("nothing is left, and more may be written")
	}
	s.pass(hourMillis)
	if !s.mayRewrite() || !s.Admit(leaving, 1, 1000) {
		t.Errorf("an hour later nothing may be written")
	}
}

// A clock that was put back or forward by days, and came back, does not stop
// writing for long.
func TestBudgetSurvivesTheClock(t *testing.T) {
	t.Parallel()
	for _, by := range []int64{-400 * dayMillis, -25 * hourMillis, -hourMillis, hourMillis, 400 * dayMillis, -30_000 * dayMillis} {
		for _, restart := range []bool{false, true} {
			s := newSpender(1e9, t.Fatalf)
			s.record = 100_000
			s.load(dayMillis, 60_000, 3, .1)
			for _, jump := range []int64{by, -by} {
				s.clock += jump
				s.allow(max(jump, 0))
				if restart {
					s.reopen(true)
				}
				s.load(dayMillis, 60_000, 3, .1)
			}
			before := s.wrote
			s.load(dayMillis, 60_000, 3, .1)
			if used := (s.wrote - before) / float64(s.day); used < .95 {
				t.Errorf("a clock that jumped by %d hours, and back: %.3f of the budget was used", by/hourMillis, used)
			}
		}
	}
}

// The figures of a budget are those of its use, also after a restart, and those
// of a tier without a limit are counted too.
func TestBudgetStats(t *testing.T) {
	t.Parallel()
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > .03*want {
			t.Errorf("%s: %.4g, want %.4g", what, got, want)
		}
	}
	s := newSpender(1e9, t.Fatalf)
	s.record = 20_000
	s.load(2*dayMillis, 10_000, 4, 0)
	st := s.Stats()
	near("budget", float64(st.Day), 1e9)
	near("written in a day", float64(st.Written), 1e9*23.5/24)
	near("forecast", float64(st.Forecast), 1e9)
	near("admitted", st.Admitted, .25)
	s.reopen(true)
	near("written in a day, after Close", float64(s.Stats().Written), float64(st.Written))
	s.pass(12 * hourMillis)
	near("written in a day, half of it without writes", float64(s.Stats().Written), 1e9*11.5/24)
	s.pass(2 * dayMillis)
	if st := s.Stats(); st.Written != 0 || st.Forecast > 0 || st.Admitted != 1 {
		t.Errorf("after two days without writes: %+v", st)
	}

	free := newSpender(0, t.Fatalf)
	for range 100 {
		free.pass(60_000)
		free.budget.Wrote(1e6)
	}
	st = free.Stats()
	near("written in a day without a limit", float64(st.Written), 1e8)
	near("forecast without a limit", float64(st.Forecast), 1e6*24*60)
	if st.Admitted != 1 || st.Refused > 0 || free.short() || free.Due() || !free.mayRewrite() {
		t.Errorf("there is no limit, and it limits: %+v", st)
	}
}

// A state that makes no sense is not used, and one of another budget counts what
// was written.
func TestBudgetState(t *testing.T) {
	t.Parallel()
	s := newSpender(1e9, t.Fatalf)
	s.budget.Wrote(4e8)
	saved := s.State(true)
	good := saved.Encode()
	for name, test := range map[string]struct {
		day  int64
		make func(state []byte) []byte
		left int64
	}{
		"good":             {1e9, func(b []byte) []byte { return b }, 6e8},
		"empty":            {1e9, func(b []byte) []byte { return make([]byte, len(b)) }, 1e9},
		"ones":             {1e9, func(b []byte) []byte { return fill(b, 0xff) }, 1e9},
		"sevens":           {1e9, func(b []byte) []byte { return fill(b, 0x77) }, 1e9},
		"a larger budget":  {3e9, func(b []byte) []byte { return b }, 26e8},
		"a smaller budget": {1e8, func(b []byte) []byte { return b }, 0},
		"a new budget":     {2e9, func([]byte) []byte { return unlimited(t, 5e8) }, 15e8},
	} {
		r := newSpender(test.day, t.Fatalf)
		state := good
		r.Resume(format.DecodeBudget([format.BudgetLen]byte(test.make(state[:]))))
		if got := r.left.Load(); got != test.left {
			t.Errorf("%s: %d bytes are left, want %d", name, got, test.left)
		}
	}
}

func fill(b []byte, with byte) []byte {
	for i := range b {
		b[i] = with
	}
	return b
}

// unlimited is the state of a tier without a budget that wrote something.
func unlimited(t *testing.T, bytes int) []byte {
	s := newSpender(0, t.Fatalf)
	s.budget.Wrote(bytes)
	saved := s.State(true)
	state := saved.Encode()
	return state[:]
}

// What is offered above the budget gets in evenly, although it is written segment
// by segment.
func TestBudgetIsSpread(t *testing.T) {
	t.Parallel()
	const segment, window = 2_000_000, 30_000 // bytes; milliseconds
	s := newSpender(1e9, t.Fatalf)
	s.record = 20_000
	mean := float64(s.day) * window / dayMillis
	buffered, most := 0., 0.
	for i := range dayMillis / window {
		let := 0.
		for range window / 1000 {
			s.pass(1000)
			for range 10 * s.day / int64(s.record) / (dayMillis / 1000) {
				if s.hash++; s.Admit(unproven, s.hash, s.record) {
					let += float64(s.record)
				}
			}
		}
		if buffered += let; buffered >= segment {
			s.write(buffered)
			buffered = 0
		}
		if i > dayMillis/window/2 { // what had been saved is spent
			most = max(most, let)
		}
	}
	if most == 0 || most > 3*mean {
		t.Errorf("%.0f bytes got in within %d ms, and %.0f do on average", most, window, mean)
	}
}
