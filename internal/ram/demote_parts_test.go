package ram

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firncache/firn/internal/evicted"
	"github.com/firncache/firn/internal/invariants"
	"github.com/firncache/firn/internal/record"
)

// lowInParts is a lower tier that takes long records in parts.
type lowInParts struct {
	*lower
	maxWhole, piece int

	rng       *rand.Rand // guarded by mu of the lower tier
	crowded   int        // of how many calls one finds no room; 0: none
	hopeless  bool       // Await is in vain
	under     int        // demotions that have not ended
	ended     int        // that have, with the record
	abandoned int
	puts      int
}

// newInParts makes a tier take records of more than 2000 bytes in parts of 700.
func newInParts(tier *Tier, low *lower) *lowInParts {
	l := &lowInParts{lower: low, maxWhole: 2000, piece: 700, rng: rand.New(rand.NewPCG(5, 5))}
	tier.setLower(l)
	return l
}

func (l *lowInParts) MaxWhole() int { return l.maxWhole }

func (l *lowInParts) DemoteParts(hash uint64, keyLen, valueLen int, deadline int64, read bool, copied record.Copy) (Transfer, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.held[hash]; r != nil {
		r.inRAM = true
		l.checkCopy(r, r.key, r.value, deadline, copied)
		if l.copied = copied; copied == record.SameCopy {
			return nil, true
		}
		l.drop(hash)
	}
	l.under++
	return &lowTransfer{l: l, hash: hash, bytes: valueLen, deadline: deadline, read: read, whole: valueLen < 2*l.maxWhole}, false
}

type lowTransfer struct {
	l           *lowInParts
	hash        uint64
	bytes       int
	deadline    int64
	read, whole bool
	value       []byte
	over        bool
}

// way is how many demotions are under way.
func (l *lowInParts) way() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.under
}

func (d *lowTransfer) Whole() bool { return d.whole }

func (d *lowTransfer) NextPart() (from, n int) {
	return len(d.value), min(d.l.piece, d.bytes-len(d.value))
}

// hasRoom reports whether a call finds room; one of a demotion that is over is wrong.
func (d *lowTransfer) hasRoom() bool {
	d.l.mu.Lock()
	defer d.l.mu.Unlock()
	d.l.puts++
	if d.over {
		d.l.fail("a demotion goes on after its end")
	}
	return d.l.crowded == 0 || d.l.rng.IntN(d.l.crowded) > 0
}

func (d *lowTransfer) PutPart(piece []byte) (ok, again bool) {
	if !d.hasRoom() {
		return false, true
	}
	d.value = append(d.value, piece...)
	return true, false
}

func (d *lowTransfer) PutAll(key, value []byte) (ok, again bool) {
	d.value = append(d.value[:0], value...)
	return d.Commit(key)
}

func (d *lowTransfer) Commit(key []byte) (ok, again bool) {
	switch {
	case !d.hasRoom():
		return false, true
	case !d.l.Demote(d.hash, key, d.value, d.deadline, d.read, record.NoCopy):
		return false, false
	}
	d.end(&d.l.ended)
	return true, false
}

func (d *lowTransfer) end(count *int) {
	d.l.mu.Lock()
	defer d.l.mu.Unlock()
	d.over = true
	d.l.under--
	*count++
}

func (d *lowTransfer) Wait(waited time.Duration, patient bool) (time.Duration, bool) {
	d.l.mu.Lock()
	defer d.l.mu.Unlock()
	return waited + 1, !d.l.hopeless || patient
}

func (d *lowTransfer) Abort(late bool) { d.end(&d.l.abandoned) }

// Long records go down in parts, while they are written, moved, promoted and cleared,
// and the budget changes; none is lost, and none is older than it should be.
func TestDemotionStress(t *testing.T) {
	t.Parallel()
	thousands := sized(15, 500)
	if invariants.Race {
		thousands = 3
	}
	for _, lossy := range []bool{false, true} {
		t.Run(fmt.Sprintf("lossy=%v", lossy), func(t *testing.T) {
			s := newLowerStress(t, 2<<20, 600, lossy)
			l := newInParts(s.tier, s.low)
			l.crowded = 10
			if err := s.run(thousands); err != nil {
				t.Fatal(err)
			}
			t.Logf("%d came in %d puts, %d were abandoned: %+v", l.ended, l.puts, l.abandoned, s.tier.Stats().Counters)
			if l.ended == 0 || l.under != 0 || lossy && l.abandoned == 0 {
				t.Errorf("%d came, %d were abandoned, %d are under way", l.ended, l.abandoned, l.under)
			}
		})
	}
}

// sinking is a small tier with a long record that is about to leave.
type sinking struct {
	*Tier
	low   *lowInParts
	now   int64
	mu    sync.Mutex
	told  []string
	long  string // the key
	value string
}

func newSinking(t *testing.T) *sinking {
	t.Helper()
	s := &sinking{now: 1000, long: "long", value: strings.Repeat("0123456789", 1000)}
	low := newLower()
	var err error
	if s.Tier, err = New(Config{Bytes: 64 << 10, MaxBytes: 256 << 10, Seed: 1, Lower: low, Now: func() int64 { return s.now },
		OnEvict: s.evicted}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Free)
	s.low = newInParts(s.Tier, low)
	return s
}

func (s *sinking) evicted(key, _ []byte, cause evicted.Cause) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told = append(s.told, fmt.Sprintf("%s %d", key, cause))
}

// fill makes the tier full by small records, so that what was there leaves.
func (s *sinking) fill(t *testing.T) {
	t.Helper()
	for i := range 2000 {
		if err := s.setKey(fmt.Appendf(nil, "%06d", i), make([]byte, 50), 0); err != nil {
			t.Fatal(err)
		}
	}
}

// A record that is written, cleared or expires between two parts does not go down,
// and the rest of what left does.
func TestDemotionEndsBetweenParts(t *testing.T) {
	t.Parallel()
	for name, during := range map[string]func(s *sinking){
		"nothing": func(s *sinking) {},
		"delete":  func(s *sinking) { s.deleteKey([]byte(s.long)) },
		"clear":   func(s *sinking) { s.Clear() },
		"clear without Evicted": func(s *sinking) {
			s.Tier.NotifyOf(0) // all goes at once
			s.Clear()
		},
		"expire": func(s *sinking) { s.now += 1000 },
		"close":  func(s *sinking) { s.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSinking(t)
			if err := s.setKey([]byte(s.long), []byte(s.value), 1500); err != nil {
				t.Fatal(err)
			}
			once := false
			s.between = func() {
				if v, ok := s.peekKey(nil, []byte(s.long)); s.low.under > 0 && !once && (!ok || string(v) != s.value) {
					t.Errorf("it cannot be found while it is demoted")
				}
				if s.low.puts == 5 && !once {
					once = true
					during(s)
				}
			}
			for i := 0; i < 2000 && s.setKey(fmt.Appendf(nil, "%06d", i), make([]byte, 50), 0) == nil; i++ {
			}
			if !once || s.low.under != 0 {
				t.Fatalf("%v: %d demotions are under way", once, s.low.under)
			}
			r, ok := s.low.get(s.Hash([]byte(s.long)), []byte(s.long))
			if want := name == "nothing"; ok != want || ok && string(r.value) != s.value {
				t.Fatalf("the lower tier has it: %v, want %v", ok, want)
			}
			if _, ok := s.Get(nil, []byte(s.long)); ok {
				t.Fatal("it is here yet")
			}
			want := map[string]string{"delete": "[long 3]", "clear": "", "expire": "[long 1]"}[name]
			if got := fmt.Sprint(s.told); want != "" && got != want {
				t.Fatalf("Evicted was told %s: want %s", got, want)
			}
			if err := s.Check(); err != nil {
				t.Fatal(err)
			}
			if err := s.low.failure(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// A record that there is no room for in time leaves, and OnEvict is told.
func TestDemotionLate(t *testing.T) {
	t.Parallel()
	s := newSinking(t)
	s.low.crowded, s.low.hopeless = 1, true
	if err := s.setKey([]byte(s.long), []byte(s.value), 0); err != nil {
		t.Fatal(err)
	}
	s.fill(t)
	if got := fmt.Sprint(s.told); got != "[long 0]" || s.low.abandoned != 1 || s.low.under != 0 {
		t.Fatalf("Evicted was told %s; %d abandoned, %d under way", got, s.low.abandoned, s.low.under)
	}
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
}

// A long record is demoted with all others, and by DemoteCopy, and stays.
func TestDemotionStays(t *testing.T) {
	t.Parallel()
	for name, down := range map[string]func(s *sinking) bool{
		"all":   func(s *sinking) bool { s.DemoteAll(0, always, new(evicted.List)); return true },
		"offer": func(s *sinking) bool { return s.DemoteCopy(s.Hash([]byte(s.long)), []byte(s.long)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSinking(t)
			s.low.crowded, s.low.hopeless = 3, true // it is waited for with patience
			if err := s.setKey([]byte(s.long), []byte(s.value), 0); err != nil {
				t.Fatal(err)
			}
			if !down(s) {
				t.Fatal("it did not go down")
			}
			r, ok := s.low.get(s.Hash([]byte(s.long)), []byte(s.long))
			if v, here := s.Get(nil, []byte(s.long)); !ok || !bytes.Equal(r.value, []byte(s.value)) || !here || string(v) != s.value {
				t.Fatalf("in the lower tier: %v, here: %v", ok, here)
			}
			if err := s.setKey([]byte(s.long), []byte("short"), 0); err != nil {
				t.Fatal(err)
			}
			if _, ok := s.low.get(s.Hash([]byte(s.long)), []byte(s.long)); ok {
				t.Fatal("a write did not invalidate it")
			}
		})
	}
}

// While one goroutine sends a record down, another that needs the segment waits for
// that, and then goes on; a smaller budget does as well.
func TestDemotionIsWaitedFor(t *testing.T) {
	t.Parallel()
	s := newSinking(t)
	if err := s.setKey([]byte(s.long), []byte(s.value), 0); err != nil {
		t.Fatal(err)
	}
	var others sync.WaitGroup
	var once atomic.Bool
	s.between = func() {
		if s.low.way() == 0 || once.Swap(true) {
			return
		}
		for i := range 3 {
			others.Go(func() {
				for j := range 300 {
					if err := s.setKey(fmt.Appendf(nil, "%d-%06d", i, j), make([]byte, 50), 0); err != nil {
						t.Error(err)
					}
				}
			})
		}
		others.Go(func() {
			for _, size := range []int64{128 << 10, 64 << 10} {
				if err := s.SetBytes(size); err != nil {
					t.Error(err)
				}
			}
		})
	}
	s.fill(t)
	others.Wait()
	if !once.Load() || s.low.ended != 1 || s.low.way() != 0 {
		t.Fatalf("%v: %d came", once.Load(), s.low.ended)
	}
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
}

// A record that is overwritten between two parts goes down as one of the two values, or
// not at all, though it lies in one piece.
func TestOverwriteBetweenParts(t *testing.T) {
	s := newSinking(t)
	s.low.maxWhole, s.low.piece = 200, 100
	s.Tier.setLower(s.low)
	before, after := strings.Repeat("a", 800), strings.Repeat("b", 800)
	if err := s.setKey([]byte(s.long), []byte(before), 0); err != nil {
		t.Fatal(err)
	}
	written := false
	s.between = func() {
		if s.low.puts < 4 || written {
			return
		}
		written = true
		if err := s.setKey([]byte(s.long), []byte(after), 0); err != nil {
			t.Error(err)
		}
	}
	s.DemoteCopy(s.Hash([]byte(s.long)), []byte(s.long))
	if !written {
		t.Fatal("the record was not demoted in parts")
	}
	if r, ok := s.low.get(s.Hash([]byte(s.long)), []byte(s.long)); ok && string(r.value) != after {
		t.Errorf("the lower tier has %q", r.value)
	}
	if v, ok := s.Get(nil, []byte(s.long)); !ok || string(v) != after {
		t.Errorf("RAM has %.20q, %v", v, ok)
	}
	if err := s.low.failure(); err != nil {
		t.Error(err)
	}
}
