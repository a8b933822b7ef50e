package bytes

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/inside"
	"github.com/firncache/firn/internal/shared/sharedtest"
	"github.com/firncache/firn/internal/tests/harness"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// secretKey is a key that no page must show.
func secretKey(i int) []byte { return fmt.Appendf(nil, "sEcReT-%06d", i) }

// wantNoKeys looks at all bytes and texts that Inside has.
func wantNoKeys(t *testing.T, in inside.Inside) {
	t.Helper()
	if strings.Contains(strings.ToLower(fmt.Sprintf("%+v", in)), "secret") || bytes.Contains(in.Segments, []byte("sEcReT")) {
		t.Errorf("a key is in %+v", in)
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[inside.Inside]()) {
		if f.Type == reflect.TypeFor[[]byte]() && f.Name != "Segments" {
			t.Errorf("Inside.%s has bytes: what are they?", f.Name)
		}
	}
}

// What is inside RAM alone: a policy that chooses once the cache is full, and no other tier.
func TestInsideOfRAM(t *testing.T) {
	t.Parallel()
	synctest.Test(t, insideOfRAM)
}

func insideOfRAM(t *testing.T) {
	c := harness.Open(t, firn.Options{RAMBytes: 1 << 20, WhatIf: firn.WhatIfOff})
	in := inside.Of(c, nil)
	if in.RAMReads.Count() != 0 {
		t.Errorf("%d lookups before the first read", in.RAMReads.Count())
	}
	if p := in.Policy; !p.Filling || len(p.Settings) < 2 || p.Current != 0 || p.Settings[0].Name != "small 5 %, promote at 2 reads" {
		t.Errorf("a new cache has the policy %+v", p)
	}
	for i := range 20_000 {
		harness.Must(t, c.Set(secretKey(i), make([]byte, 100)))
		for k := range 5 {
			c.Get(nil, secretKey(i-i%7*k))
		}
	}
	var there []int
	for i := range 20_000 {
		if c.Has(secretKey(i)) {
			there = append(there, i)
		}
	}
	for range 40 { // of some of them, one in 256 or more, the policy is told
		for _, i := range there {
			c.Get(nil, secretKey(i))
		}
	}
	time.Sleep(time.Second)
	before := c.Stats()
	in = inside.Of(c, in.Segments)
	if after := c.Stats(); in.RAMReads.Count() == 0 || after.Hits != before.Hits || after.Misses != before.Misses {
		t.Errorf("%d lookups, that count as %d hits", in.RAMReads.Count(), after.Hits-before.Hits)
	}
	best := 0.0
	for _, s := range in.Policy.Settings {
		best = max(best, s.Score)
	}
	if in.Policy.Filling || best != 1 || in.Policy.Settings[in.Policy.Current].Score < .5 {
		t.Errorf("a full cache has the policy %+v", in.Policy)
	}
	if h := in.Health; h != (inside.Health{SSD: inside.None, Shared: inside.None}) || len(in.Segments) != 0 || in.Closed {
		t.Errorf("RAM alone has %+v", in)
	}
	wantNoKeys(t, in)
	harness.Must(t, c.Close())
	if in = inside.Of(c, nil); !in.Closed {
		t.Error("the cache is closed, and it is not said")
	}
}

// What is inside all tiers, while all is well and while nothing is.
func TestInsideOfTiers(t *testing.T) {
	t.Parallel()
	server := sharedtest.NewServer()
	tier := server.Tier()
	f := vfstest.NewFaulty(vfstest.NewMem())
	c := harness.OpenOn(t, f, func(o *firn.Options) { o.RAMBytes, o.SSD.Bytes, o.Shared = 1<<20, 4<<20, tier })
	for i := range 20_000 {
		harness.Must(t, c.Set(secretKey(i), make([]byte, 100)))
	}
	in := inside.Of(c, make([]byte, 3, 1024))
	if h := in.Health; h.SSD != inside.Online || h.Shared != inside.Online || len(in.Segments) != int(c.Stats().SSD.Segments) || in.SSDBudget != 4<<20 {
		t.Errorf("%d segments of %d, %d bytes, %+v", len(in.Segments), c.Stats().SSD.Segments, in.SSDBudget, h)
	}
	wantNoKeys(t, in)
	f.Inject(vfstest.Rule{On: vfstest.OpWrite, Err: syscall.EIO})
	for i := 0; c.Stats().SSD.Online; i++ {
		harness.Must(t, c.Set(secretKey(i), make([]byte, 100)))
	}
	tier.SetOnline(false)
	in = inside.Of(c, in.Segments)
	if h := in.Health; h.SSD != inside.Offline && h.SSD != inside.Recovering || !strings.Contains(h.SSDReason, syscall.EIO.Error()) || h.Since.IsZero() || h.Shared != inside.Offline || h.SharedNote == "" || len(in.Segments) != 0 {
		t.Errorf("with a broken disk, and no server: %+v", in)
	}
	wantNoKeys(t, in)
}
