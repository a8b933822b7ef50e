package firn

import (
	"context"
	"time"

	"github.com/firncache/firn/internal/enumtext"
	"github.com/firncache/firn/internal/load"
	"github.com/firncache/firn/internal/local"
)

// Entry is a value with what the cache knows of it.
type Entry struct {
	Value   []byte        // is the caller's
	TTL     time.Duration // of a hit: how long it has to live, or Forever; otherwise 0
	Tier    Tier          // of a hit: where it was found; 0 if it was stored during the call
	Outcome Outcome       // how the call came by the value, or by its error
}

// TypedEntry is an Entry of a typed cache.
type TypedEntry[V any] struct {
	Value   V
	TTL     time.Duration // as in Entry
	Tier    Tier
	Outcome Outcome
}

// Outcome is how LookupEntry, GetOrLoadEntry or a batch came by an answer.
type Outcome uint8

// The outcomes.
const (
	OutcomeNone     Outcome = iota // no answer: the error is not a loader's
	OutcomeHit                     // a value that was there
	OutcomeStale                   // an expired value, which LoadingOptions allow
	OutcomeLoaded                  // value or error of the loader, which this call began
	OutcomeJoined                  // value or error of a loader that another call began
	OutcomeNegative                // an ErrNotFound that was remembered, or with ErrorTTL another error
)

func (o Outcome) String() string {
	return enumtext.Name(o, "none", "hit", "stale", "loaded", "joined", "negative")
}

// Tier is a place where a value can be.
type Tier uint8

// The tiers, the fastest first.
const (
	TierFront Tier = iota + 1 // a hot value, above the bytes
	TierRAM
	TierSSD
	TierShared // a copy in RAM or on the SSD that was checked there is found where it lies
)

func (t Tier) String() string { return enumtext.Name(t, "none", "front", "RAM", "SSD", "shared") }

// MarshalText returns what String does.
func (t Tier) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// LookupEntry is Lookup that also returns how long the value has to live, and where it was found:
// a value from the SSD is in RAM afterwards, as a rule.
func (c *Cache) LookupEntry(ctx context.Context, dst, key []byte) (Entry, error) {
	if err := checkOrder(dst, key); err != nil {
		return Entry{Value: dst}, err
	}
	v, deadline, at, err := c.store.LookupEntry(ctx, dst, key)
	if err != nil {
		return Entry{Value: v}, err
	}
	return Entry{v, c.timeTo(deadline), tierOf(at), OutcomeHit}, nil
}

// outcomeOf is how a load came by its answer, and the tier of one that was found.
func outcomeOf(came load.Outcome) (Outcome, Tier) {
	switch came {
	case load.Found:
		return OutcomeHit, 0
	case load.InShared:
		return OutcomeHit, TierShared
	case load.Stale, load.Fallback:
		return OutcomeStale, 0
	case load.Loaded:
		return OutcomeLoaded, 0
	case load.Joined, load.JoinedNewer:
		return OutcomeJoined, 0
	case load.Negative:
		return OutcomeNegative, 0
	}
	return OutcomeNone, 0
}

func tierOf(at local.Place) Tier {
	return [...]Tier{local.InRAM: TierRAM, local.OnSSD: TierSSD, local.InShared: TierShared}[at]
}
