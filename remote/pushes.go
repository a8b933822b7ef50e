package remote

import (
	"fmt"

	"github.com/firncache/firn/internal/shared"
	"github.com/firncache/firn/remote/internal/cluster"
	"github.com/firncache/firn/remote/internal/entry"
	"github.com/firncache/firn/remote/internal/link"
)

// host is what the servers have to do with the tier.
type host struct{ t *sharedTier }

var _ cluster.Host = host{}

// Fits returns an error for a server that the tier is not made for.
func (h host) Fits(addr string, s link.Server) error {
	switch o, single := h.t.o, h.t.cluster.Single(); {
	case s.Clustered && single:
		return fmt.Errorf("remote: %s: is in a cluster now: want the tier opened anew", addr)
	case !s.Clustered && len(o.Addrs) > 1:
		return optionError("Addrs", o.Addrs, "one address, or those of a cluster: "+addr+" is not in cluster mode")
	}
	return leasesFit(h.t.o.Leases, addr, s)
}

// leasesFit returns an error for a server that does not have what Options.Leases wants.
func leasesFit(leases Leases, addr string, s link.Server) error {
	if s.Can.Conditional() {
		return nil
	}
	var err error
	switch {
	case leases == LeasesOn:
		err = link.Fatalf("Options.Leases: on: %w", errUnconditional(addr))
	case leases == LeasesAuto && s.Refused != nil:
		err = link.Fatalf("loads are stored and leased by it: %w: want the right, or LeasesOff in Options.Leases", s.Refused)
	default:
		return nil
	}
	return &link.ConnectError{Addr: addr, Err: err}
}

// SetFeed begins another epoch of a slot.
func (h host) SetFeed(slot int, f *shared.Feed) {
	if trust := h.t.trust.Load(); trust != nil {
		trust.SetFeed(slot, f)
	}
}

// EpochEnded notifies the local tiers that copies have become suspect.
func (h host) EpochEnded() {
	h.t.awaits.wakeAll()
	h.t.count.epochs.Add(1)
	if local := h.t.local(); local != nil {
		local.EpochChanged()
	}
}

// Wrote wakes the callers that wait for a name.
func (h host) Wrote(name string) { h.t.awaits.wake(name) }

// Pushed has the local tiers forget what is under a name.
func (h host) Pushed(name string) {
	if local := h.t.local(); local != nil { // without there are no copies yet
		h.invalidate(local, name)
		h.t.awaits.wake(name)
	}
}

func (h host) invalidate(local shared.Local, name string) {
	kind, of, ok := h.t.names.Cut(name)
	switch {
	case !ok:
		return
	case kind == entry.KindEntry:
		local.Invalidate([]byte(of))
	case kind == entry.KindNumber && len(of) == len(shared.ID{}):
		local.InvalidateNumber(shared.ID([]byte(of)))
	default:
		return
	}
	h.t.count.invalidations.Add(1)
}
