package store

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn/internal/fleet"
	"github.com/firncache/firn/internal/local"
	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/internal/shared/sharedtest"
	"github.com/firncache/firn/internal/vfs"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// does is begin with a policy.
func does(t *testing.T, server *sharedtest.Server, policy shared.Policy) *process {
	return begin(t, server, false, func(cfg *Config) { cfg.Shared.(*sharedtest.Tier).Does = policy })
}

// wantIn demands what one lookup with a context's options finds, and how many requests that
// takes.
func (p *process) wantIn(call shared.Call, key, value string, failure error, requests int) {
	p.t.Helper()
	ctx, before := shared.WithCall(p.t.Context(), call), p.tier.Calls()
	v, err := p.Lookup(ctx, []byte("dst "), []byte(key))
	if string(v) != "dst "+value || !errors.Is(err, failure) || failure == nil && err != nil {
		p.t.Errorf("%s is %q, %v: want %q, %v", key, v, err, value, failure)
	}
	w, _, _, err := p.LookupEntry(ctx, nil, []byte(key))
	if string(w) != value || !errors.Is(err, failure) {
		p.t.Errorf("LookupEntry of %s: %q, %v: want %q, %v", key, w, err, value, failure)
	}
	var b fleet.Batch
	err = p.LookupMulti(ctx, &b, [][]byte{[]byte(key)})
	if x, ok := b.Value(0); string(x) != value || ok != (failure == nil) || failure != local.ErrNotFound && !errors.Is(err, failure) {
		p.t.Errorf("LookupMulti of %s: %q, %v: want %q, %v", key, x, err, value, failure)
	}
	if n := p.tier.Calls() - before; n != 3*requests {
		p.t.Errorf("three lookups of %s made %d requests: want %d each", key, n, requests)
	}
}

// What becomes of a suspect copy, and of a key without one, that the tier cannot be asked for.
func TestDegradedReads(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		degraded       shared.Degraded
		suspect        string
		failed, absent error
	}{
		"miss":  {shared.DegradedMiss, "", local.ErrNotFound, local.ErrNotFound},
		"stale": {shared.DegradedStale, "v", nil, local.ErrNotFound},
		"error": {shared.DegradedError, "", local.ErrSharedUnavailable, local.ErrSharedUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := shared.Call{Degraded: c.degraded, HasDegraded: true}
			byPolicy := does(t, sharedtest.NewServer(), shared.Policy{Degraded: c.degraded})
			byCall := does(t, sharedtest.NewServer(), shared.Policy{Degraded: (c.degraded + 1) % 3})
			for p, call := range map[*process]shared.Call{byPolicy: {}, byCall: asked} {
				p.set("k", "v")
				p.tier.SetOnline(false)
				p.wantIn(call, "k", "v", nil, 0)
				p.tier.Lapse()
				p.wantIn(call, "k", c.suspect, c.failed, 1)
				p.wantIn(call, "absent", "", c.absent, 1)
				p.tier.SetOnline(true)
				p.tier.Resume()
				p.wantIn(call, "k", "v", nil, 0)
			}
		})
	}
}

// A call can pass by the local tiers, or the shared one.
func TestSkippedTiers(t *testing.T) {
	t.Parallel()
	server := sharedtest.NewServer()
	a, b := does(t, server, shared.Policy{}), does(t, server, shared.Policy{})
	a.set("k", "v1")
	b.wantIn(shared.Call{SkipShared: true}, "k", "", local.ErrNotFound, 0)
	b.want("k", "v1", false)
	b.wantIn(shared.Call{SkipShared: true}, "k", "v1", nil, 0)
	b.tier.HoldPushes()
	a.set("k", "v2")
	b.wantIn(shared.Call{}, "k", "v1", nil, 0)
	b.wantIn(shared.Call{SkipLocal: true}, "k", "v2", nil, 1)
	b.tier.Disconnect()
	b.wantIn(shared.Call{SkipShared: true}, "k", "", local.ErrNotFound, 0)
}

// A copy lives no longer than it may, and tells of no deadline that is not its entry's.
func TestCopyTTL(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := sharedtest.NewServer()
		a, b := does(t, server, shared.Policy{}), does(t, server, shared.Policy{CopyTTL: time.Minute})
		deadline := a.Now() + time.Hour.Milliseconds()
		if err := a.Set(a.Hash([]byte("k")), []byte("k"), []byte("v"), deadline); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			b.want("k", "v", false)
			b.want("k", "v", true)
			if _, _, known, err := b.LookupDeadline(t.Context(), nil, []byte("k")); known || err != nil {
				t.Errorf("the deadline is known: %v, %v", known, err)
			}
			got, ok := b.Deadline([]byte("k"))
			if off := math.Abs(float64(got - deadline)); !ok || off > 2 {
				t.Errorf("the deadline is %d, %v: want %d", got, ok, deadline)
			}
			time.Sleep(time.Minute + 2*time.Millisecond)
		}
		time.Sleep(time.Hour)
		b.want("k", local.ErrNotFound.Error(), false)
	})
}

// A check that takes longer than a soft timeout goes on, and the suspect copy is the answer.
func TestSoftTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := does(t, sharedtest.NewServer(), shared.Policy{Degraded: shared.DegradedStale, SoftTimeout: 10 * time.Millisecond})
		p.set("k", "v")
		p.tier.Disconnect()
		p.tier.SetSilent(true)
		began := time.Now()
		p.read("k", "v")
		if took := time.Since(began); took != 10*time.Millisecond {
			t.Errorf("the answer took %v", took)
		}
		p.tier.SetSilent(false)
		synctest.Wait()
		p.want("k", "v", true)
	})
}

// A context ends the waiting for the tier, and Close does.
func TestWaitsForSharedTierEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := does(t, sharedtest.NewServer(), shared.Policy{})
		p.tier.Timeout = time.Hour
		p.tier.SetSilent(true)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := p.Lookup(ctx, nil, []byte("k")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Lookup: %v", err)
		}
		ended := make(chan error, 5)
		key, ctx := []byte("k"), t.Context()
		go func() { _, err := p.Lookup(ctx, nil, key); ended <- err }()
		go func() { ended <- p.SetContext(ctx, p.Hash(key), key, nil, 0) }()
		go func() { ended <- p.DeleteMultiContext(ctx, [][]byte{key}) }()
		go func() { ended <- p.ClearContext(ctx) }()
		go func() { _, err := p.Touch(ctx, key, 1); ended <- err }()
		synctest.Wait()
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		for range cap(ended) {
			if err := <-ended; err != local.ErrClosed {
				t.Errorf("after Close: %v", err)
			}
		}
	})
}

// The directory of one shared tier is that of no other, and of no cache without one.
func TestDirectoryOfSharedTier(t *testing.T) {
	t.Parallel()
	server, disk := sharedtest.NewServer(), vfstest.NewMem()
	for _, c := range []struct {
		namespace string
		kept      bool
	}{{"", false}, {"", true}, {"a", false}, {"a", true}, {"b", false}, {"", false}} {
		p := restart(t, server, disk, c.namespace)
		if p.Recovered() != c.kept {
			t.Errorf("namespace %q finds records: %v", c.namespace, p.Recovered())
		}
		if c.namespace != "" && c.kept { // nothing is trusted that another process has left
			p.want("k", "v", false)
			if s := p.SharedStats(); s.Unchanged != 1 {
				t.Errorf("the value was sent: %+v", s)
			}
		}
		p.set("k", "v")
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

// restart begins a process on a disk, with a shared tier of this namespace; "": with none.
func restart(t *testing.T, server *sharedtest.Server, disk vfs.FS, namespace string) *process {
	return begin(t, server, true, func(cfg *Config) {
		cfg.FS = disk
		cfg.Shared.(*sharedtest.Tier).Does.Fingerprint = namespace
		if namespace == "" {
			cfg.Shared = nil
		}
	})
}
