package bufpool

import (
	"fmt"
	"strings"
	"testing"
)

// fakeTB records what a test helper does to a test.
type fakeTB struct {
	atEnd  []func()
	failed []string
}

func (f *fakeTB) Helper()            {}
func (f *fakeTB) Cleanup(end func()) { f.atEnd = append(f.atEnd, end) }
func (f *fakeTB) Errorf(format string, args ...any) {
	f.failed = append(f.failed, fmt.Sprintf(format, args...))
}

func (f *fakeTB) end() []string {
	for _, end := range f.atEnd {
		end()
	}
	return f.failed
}

func TestFailOnLeak(t *testing.T) {
	FailOnLeak(t, Default())
	for name, p := range pools(t) {
		before := p.Get(1) // not this test's fault
		tb := &fakeTB{}
		FailOnLeak(tb, p)
		p.Get(1).Release()
		b := p.Get(1)
		b.Grow(100)
		b.Release()
		if failed := tb.end(); failed != nil {
			t.Errorf("%s pool: a test without a leak failed: %q", name, failed)
		}

		tb = &fakeTB{}
		FailOnLeak(tb, p)
		takeAndKeep(p).Grow(100)
		failed := tb.end()
		if len(failed) != 1 {
			t.Fatalf("%s pool: failures %q, expected 1", name, failed)
		}
		if p.checked != strings.Contains(failed[0], "bufpool.takeAndKeep") {
			t.Errorf("%s pool: %q, expected the place that took it from a checked pool only", name, failed[0])
		}
		before.Release()
	}
}

//go:noinline
func takeAndKeep(p *Pool) *Buffer { return p.Get(1) }

func TestLeaksAreInOrder(t *testing.T) {
	p := pools(t)["checked"]
	a, b, c := p.Get(100), p.Get(10), p.Get(1000)
	a.Retain()
	leaks := p.Leaks()
	if len(leaks) != 3 || leaks[0].Cap != 256 || leaks[1].Cap != 64 || leaks[2].Cap != 1000 || leaks[0].References != 2 {
		t.Fatalf("%v", leaks)
	}
	if s := leaks[0].String(); !strings.Contains(s, "256-byte buffer with 2 references") || !strings.Contains(s, "leaks_test.go") {
		t.Fatal(s)
	}
	a.Release()
	a.Release()
	b.Release()
	c.Release()
	if leaks := p.Leaks(); len(leaks) != 0 {
		t.Fatalf("after Release: %v", leaks)
	}
	if leaks := pools(t)["plain"].Leaks(); leaks != nil && !checkedBuild {
		t.Fatalf("an unchecked pool lists %v", leaks)
	}
}
