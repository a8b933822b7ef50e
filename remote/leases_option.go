package remote

import (
	"fmt"

	"github.com/firncache/firn/internal/enumtext"
)

// Leases says whether there is one load for all processes.
type Leases uint8

// The choices.
const (
	LeasesAuto Leases = iota // if the server has the commands for it
	LeasesOn                 // or Open fails
	LeasesOff
)

func (l Leases) String() string {
	return enumtext.Name(l, "auto", "on", "off")
}

// MarshalText is "auto", "on" or "off".
func (l Leases) MarshalText() ([]byte, error) {
	if l > LeasesOff {
		return nil, fmt.Errorf("remote: Leases(%d): want LeasesAuto, LeasesOn or LeasesOff", uint8(l))
	}
	return []byte(l.String()), nil
}

// UnmarshalText takes what MarshalText makes.
func (l *Leases) UnmarshalText(text []byte) error {
	return enumtext.Parse(l, LeasesOff, text)
}
