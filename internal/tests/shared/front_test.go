package shared

import (
	"testing"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/internal/shared/sharedtest"
	"github.com/firncache/firn/internal/tests/harness"
)

// fronted are two processes, of which the second has a front, that has a value.
func fronted(t *testing.T, change ...func(*sharedtest.Tier)) (server *sharedtest.Server, a, b *process) {
	t.Helper()
	server = sharedtest.NewServer()
	a = newProcess(t, server, firn.TypedOptions[string, string]{})
	b = newProcess(t, server, firn.TypedOptions[string, string]{HotValues: 1000}, change...)
	a.set("k", "1", "t")
	b.Get("k")
	b.Get("k")
	b.wantFront("1", true)
	return server, a, b
}

// wantFront demands a value of k, from the front or not.
func (p *process) wantFront(value string, front bool) {
	p.t.Helper()
	before := p.c.Stats().FrontHits
	v, ok := p.Get("k")
	if v != value || ok != (value != "") {
		p.t.Errorf("got %q, %v: want %q", v, ok, value)
	}
	if hits := p.c.Stats().FrontHits - before; hits > 0 != front {
		p.t.Errorf("%d hits of the front: want some %v", hits, front)
	}
}

// A front answers only while nobody need be asked whether its value is the latest.
func TestSharedFront(t *testing.T) {
	for name, test := range map[string]func(t *testing.T, server *sharedtest.Server, a, b *process){
		"another sets": func(t *testing.T, _ *sharedtest.Server, a, b *process) {
			a.set("k", "2")
			b.wantFront("2", false)
			b.wantFront("2", false)
			b.wantFront("2", true)
		},
		"another clears": func(t *testing.T, _ *sharedtest.Server, a, b *process) {
			harness.Must(t, a.Clear(t.Context()))
			b.wantFront("", false)
		},
		"another invalidates": func(t *testing.T, _ *sharedtest.Server, a, b *process) {
			harness.Must(t, a.InvalidateTag(t.Context(), "t"))
			b.wantFront("", false)
		},
		"numbers are lost": func(t *testing.T, server *sharedtest.Server, a, b *process) {
			server.ForgetNumbers()
			b.wantFront("", false)
		},
		"an epoch": func(t *testing.T, _ *sharedtest.Server, a, b *process) {
			b.tier.HoldPushes()
			a.set("k", "2")
			b.tier.Disconnect()
			b.wantFront("2", false)
		},
		"a silent server": func(t *testing.T, _ *sharedtest.Server, a, b *process) {
			b.tier.HoldPushes()
			a.set("k", "2")
			b.wantFront("1", true) // within the bound
			b.tier.Lapse()
			b.wantFront("2", false)
		},
		"the server is heard again": func(t *testing.T, _ *sharedtest.Server, a, b *process) {
			b.tier.Lapse()
			b.tier.SetOnline(false)
			b.wantFront("", false)
			b.tier.SetOnline(true)
			b.tier.Resume()
			b.wantFront("1", true)
		},
	} {
		t.Run(name, func(t *testing.T) {
			server, a, b := fronted(t)
			test(t, server, a, b)
		})
	}
}

// hookedCodec calls a function before it decodes.
type hookedCodec struct{ before *func() }

func (hookedCodec) Name() string                                { return "hooked" }
func (hookedCodec) Append(dst []byte, v string) ([]byte, error) { return append(dst, v...), nil }
func (c hookedCodec) Decode(src []byte) (v string, err error)   { (*c.before)(); return string(src), nil }

// A value that is read while a push of its key comes is not kept by the front.
func TestSharedFrontFill(t *testing.T) {
	before := func() {}
	server := sharedtest.NewServer()
	opts := firn.TypedOptions[string, string]{Codec: hookedCodec{&before}}
	a := newProcess(t, server, opts)
	opts.HotValues = 1000
	b := newProcess(t, server, opts)
	b.set("k", "1")
	before = func() {
		before = func() {}
		a.set("k", "2")
	}
	b.wantFront("1", false) // it was read before
	b.wantFront("2", false)
}

// The options of a call hold for the front, too; and a copy that lives shorter than its entry
// does not tell when that expires.
func TestSharedFrontCalls(t *testing.T) {
	_, a, b := fronted(t, func(tier *sharedtest.Tier) { tier.Does.CopyTTL = time.Minute })
	b.tier.HoldPushes()
	a.set("k", "2")
	b.wantFront("1", true)
	ctx := shared.WithCall(t.Context(), shared.Call{SkipLocal: true})
	if v, err := b.Lookup(ctx, "k"); v != "2" || err != nil {
		t.Errorf("past the local tiers: %q, %v", v, err)
	}
	if ttl, ok := b.TTL("k"); ttl != firn.Forever || !ok {
		t.Errorf("the time to live is %v, %v: want Forever", ttl, ok)
	}
	if e, err := b.LookupEntry(t.Context(), "k"); e.Tier == firn.TierFront || err != nil {
		t.Errorf("the entry is %+v, %v", e, err)
	}
}
