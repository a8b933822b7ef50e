package store

import (
	"sync/atomic"
	"testing"

	"github.com/firncache/firn/internal/local"
	"github.com/firncache/firn/internal/shared/sharedtest"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// during runs f when the first such call is served, and not answered yet.
func (p *process) during(call string, f func()) { p.tier.OnReply = first(call, f) }

// before runs f when the first such call was made, and not served yet.
func (p *process) before(call string, f func()) { p.tier.OnRequest = first(call, f) }

func first(call string, f func()) func(call, key string) {
	var done atomic.Bool
	return func(c, _ string) {
		if c == call && !done.Swap(true) { // f may make such calls itself
			f()
		}
	}
}

// two are processes on one server.
func two(t *testing.T, onSSD bool) (a, b *process) {
	server := sharedtest.NewServer()
	return begin(t, server, onSSD), begin(t, server, onSSD)
}

// pair are two processes on one server, of which b has set k.
func pair(t *testing.T, onSSD bool) (a, b *process) {
	a, b = two(t, onSSD)
	b.set("k", "v1")
	return a, b
}

// overPairs runs a test with a pair over RAM alone, and over both tiers.
func overPairs(t *testing.T, test func(t *testing.T, a, b *process)) {
	t.Helper()
	overTiers(t, func(t *testing.T, onSSD bool) {
		a, b := pair(t, onSSD)
		test(t, a, b)
	})
}

// read demands the value that one lookup finds.
func (p *process) read(key, value string) {
	p.t.Helper()
	if v, err := p.Lookup(p.t.Context(), nil, []byte(key)); string(v) != value {
		p.t.Errorf("%s is %q, %v: want %q", key, v, err, value)
	}
}

// refused demands that so many copies were not stored.
func (p *process) refused(n uint64) {
	p.t.Helper()
	if got := p.SharedStats().CopiesRefused; got != n {
		p.t.Errorf("%d copies were refused: want %d", got, n)
	}
}

// A push that is handled after the reply, and before the fill, voids the fill.
func TestPushBeforeFill(t *testing.T) {
	t.Parallel()
	overPairs(t, func(t *testing.T, a, b *process) {
		a.during("Read", func() { b.set("k", "v2") })
		a.read("k", "v1")
		a.refused(1)
		a.want("k", "v2", false)
		a.want("k", "v2", true)
	})
}

// A push that came before the reply was read voids nothing that is newer than it tells.
func TestLatePushOfOlderWrite(t *testing.T) {
	t.Parallel()
	overPairs(t, func(t *testing.T, a, b *process) {
		a.tier.HoldPushes()
		b.set("k", "v2")
		a.want("k", "v2", false)
		a.tier.DeliverPushes()
		a.want("k", "v2", false)
		a.want("k", "v2", true)
	})
}

// A value that was asked for before the connection was lost is stored as a suspect copy.
func TestConnectionLostBeforeFill(t *testing.T) {
	t.Parallel()
	overPairs(t, func(t *testing.T, a, b *process) {
		a.during("Read", func() {
			a.tier.HoldPushes() // which the connection takes along
			b.set("k", "v2")
			a.tier.Disconnect()
		})
		a.read("k", "v1")
		a.want("k", "v2", false)
	})
}

// The connection is lost after the fill, with the push.
func TestConnectionLostAfterFill(t *testing.T) {
	t.Parallel()
	overPairs(t, func(t *testing.T, a, b *process) {
		a.want("k", "v1", false)
		a.tier.HoldPushes()
		b.set("k", "v2")
		a.want("k", "v1", true) // within the bound
		a.tier.Disconnect()
		a.want("k", "v2", false)
	})
}

// A Set voids a Get that has read the older value, whichever of them ends first.
func TestSetBesideGet(t *testing.T) {
	t.Parallel()
	overPairs(t, func(t *testing.T, a, _ *process) {
		a.during("Read", func() { a.set("k", "v2") })
		a.read("k", "v1")
		a.refused(1)
		a.want("k", "v2", false) // which of the two the server has done last nobody knew
		a.want("k", "v2", true)
		a.before("Write", func() { a.read("k", "v2") })
		a.set("k", "v3")
		if got := a.get("k"); got != "v3" {
			t.Errorf("after Set, k is %q", got)
		}
	})
}

// Whoever has read what another process wrote does not find next what his own wrote before,
// though the fill was refused for that, and the push is late.
func TestReadsDoNotGoBack(t *testing.T) {
	t.Parallel()
	overTiers(t, func(t *testing.T, onSSD bool) {
		for _, after := range []string{"v3", local.ErrNotFound.Error()} {
			a, b := pair(t, onSSD)
			a.tier.HoldPushes()
			a.before("Read", func() {
				a.set("k", "v2")
				if b.set("k", "v3"); after != "v3" {
					_ = b.Delete([]byte("k"))
				}
			})
			v, _ := a.Lookup(t.Context(), nil, []byte("k"))
			if after == "v3" && string(v) != after || after != "v3" && v != nil {
				t.Errorf("k is %q: want %q", v, after)
			}
			a.want("k", after, false)
		}
	})
}

// Of two Sets of one process the copy of neither stays if the one that the server did last
// is acknowledged first.
func TestSetsOvertakeEachOther(t *testing.T) {
	t.Parallel()
	overPairs(t, func(t *testing.T, a, _ *process) {
		a.during("Write", func() { a.set("k", "v3") })
		a.set("k", "v2")
		a.want("k", "v3", false)
		a.want("k", "v3", true)

		a.before("Write", func() { a.set("k", "v4") })
		a.set("k", "v5")
		a.want("k", "v5", false)
	})
}

// A push that is handled before an acknowledged Set stores its copy voids it.
func TestPushBeforeSetEnds(t *testing.T) {
	t.Parallel()
	overPairs(t, func(t *testing.T, a, b *process) {
		a.during("Write", func() { b.set("k", "v3") })
		a.set("k", "v2")
		a.want("k", "v3", false)
	})
}

// Of a Set of which nobody knows whether it was done, nor when it will be, no copy is kept,
// nor is what was there before.
func TestSetOfUnknownOutcome(t *testing.T) {
	t.Parallel()
	overPairs(t, func(t *testing.T, a, b *process) {
		a.want("k", "v1", false)
		a.tier.SetLosesReplies(true)
		a.before("Write", func() {
			a.tier.SetLosesReplies(false)
			a.read("k", "v1") // which fills
			a.tier.SetLosesReplies(true)
		})
		a.fails("k", "v2")
		a.tier.SetLosesReplies(false)
		a.want("k", "v2", false)
		b.want("k", "v2", false)

		a.tier.Postpone()
		a.fails("k", "v3")
		a.tier.Disconnect()
		a.tier.ServePostponed()
		a.want("k", "v3", false)
		b.want("k", "v3", false)
	})
}

// fails demands that a Set fails for the server.
func (p *process) fails(key, value string) {
	p.t.Helper()
	if err := p.setKey([]byte(key), []byte(value), 0); err != local.ErrSharedUnavailable {
		p.t.Errorf("Set: %v: want %v", err, local.ErrSharedUnavailable)
	}
}

// A value that is put off by a lost connection, and done after a fill, is told by a push.
func TestPostponedSetAfterFill(t *testing.T) {
	t.Parallel()
	overPairs(t, func(t *testing.T, a, b *process) {
		b.tier.Postpone()
		b.fails("k", "v2")
		a.want("k", "v1", false)
		b.tier.ServePostponed()
		a.want("k", "v2", false)
	})
}

// What the server evicts is gone, also where a copy lies on the SSD, told or found out.
func TestServerEvicts(t *testing.T) {
	t.Parallel()
	overTiers(t, func(t *testing.T, onSSD bool) {
		for _, told := range []bool{true, false} {
			server := sharedtest.NewServer()
			a := begin(t, server, onSSD)
			a.set("k", "v1")
			if onSSD {
				a.demote("k")
			}
			if !told {
				a.tier.HoldPushes()
			}
			server.Remove("k")
			if !told {
				a.want("k", "v1", true)
				a.tier.Disconnect()
			}
			a.want("k", local.ErrNotFound.Error(), false)
			if a.Len() != 0 {
				t.Errorf("%d copies are left", a.Len())
			}
		}
	})
}

// A value that is being read from the SSD when a push comes is not promoted.
func TestPushDuringRead(t *testing.T) {
	t.Parallel()
	server := sharedtest.NewServer()
	disk := vfstest.NewFaulty(vfstest.NewMem())
	a := begin(t, server, true, func(cfg *Config) { cfg.FS = disk })
	b := begin(t, server, false)
	a.set("k", "v1")
	a.demote("k")
	var once atomic.Bool
	in := disk.Inject(vfstest.Rule{On: vfstest.OpRead, Hook: func(vfstest.Op) {
		if !once.Swap(true) {
			b.set("k", "v2")
		}
	}})
	a.read("k", "v2")
	in.Remove()
	if in.Hits() == 0 {
		t.Error("the disk was not read")
	}
	a.want("k", "v2", true)
}

// sharedWrites are the ways to change k, and what it is afterwards.
var sharedWrites = map[string]struct {
	write func(p *process, key []byte) error
	after string
}{
	"Write":       {func(p *process, key []byte) error { return p.setKey(key, []byte("v2"), 0) }, "v2"},
	"WriteMulti":  {func(p *process, key []byte) error { return p.SetMulti([][]byte{key}, [][]byte{[]byte("v2")}, 0, nil) }, "v2"},
	"Remove":      {func(p *process, key []byte) error { return p.Delete(key) }, local.ErrNotFound.Error()},
	"RemoveMulti": {func(p *process, key []byte) error { return p.DeleteMulti([][]byte{key}) }, local.ErrNotFound.Error()},
	"Clear":       {func(p *process, _ []byte) error { return p.Clear() }, local.ErrNotFound.Error()},
	"Touch": {func(p *process, key []byte) error {
		_, err := p.Touch(p.t.Context(), key, p.Now()-1)
		return err
	}, local.ErrNotFound.Error()},
}

// While a write is under way, no local tier answers with what was there before: the server may
// have the new value already, and does not tell its writer. Nor does one afterwards, though a
// read has found it meanwhile.
func TestNoCopyDuringWrites(t *testing.T) {
	t.Parallel()
	for call, c := range sharedWrites {
		t.Run(call, func(t *testing.T) {
			t.Parallel()
			overPairs(t, func(t *testing.T, a, _ *process) {
				a.want("k", "v1", false)
				a.before(call, func() { a.read("k", "v1") })
				a.during(call, func() {
					if got := a.SharedStats().Copies; got != 2 {
						t.Errorf("%d copies were stored: want that of the read, too", got)
					}
				})
				if err := c.write(a, []byte("k")); err != nil {
					t.Error(err)
				}
				if got := a.get("k"); got != c.after {
					t.Errorf("k is %q: want %q", got, c.after)
				}
			})
		})
	}
}

// While nobody has read the key, either.
func TestNoCopyOnceWritten(t *testing.T) {
	t.Parallel()
	for call, c := range sharedWrites {
		t.Run(call, func(t *testing.T) {
			t.Parallel()
			overPairs(t, func(t *testing.T, a, _ *process) {
				a.want("k", "v1", false)
				a.during(call, func() { a.want("k", c.after, false) })
				if err := c.write(a, []byte("k")); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// The same holds of a change by what a key holds.
func TestNoCopyDuringAttempt(t *testing.T) {
	t.Parallel()
	overPairs(t, func(t *testing.T, a, _ *process) {
		a.want("k", "v1", false)
		a.during("Write", func() { a.want("k", "v1+", false) })
		if _, err := a.tryAppend("k", "+"); err != nil {
			t.Error(err)
		}
		if got := a.get("k"); got != "v1+" {
			t.Errorf("k is %q", got)
		}
	})
}
