package remote

import "fmt"

// Leases says whether there is one load for all processes.
type Leases uint8

// The choices.
const (
	LeasesAuto Leases = iota // if the server has the commands for it
	LeasesOn                 // or Open fails
	LeasesOff
)

var leasesNames = [...]string{"auto", "on", "off"}

func (l Leases) String() string {
	if int(l) < len(leasesNames) {
		return leasesNames[l]
	}
	return fmt.Sprintf("Leases(%d)", uint8(l))
}

// MarshalText is "auto", "on" or "off".
func (l Leases) MarshalText() ([]byte, error) {
	if int(l) >= len(leasesNames) {
		return nil, fmt.Errorf("remote: Leases(%d): want LeasesAuto, LeasesOn or LeasesOff", uint8(l))
	}
	return []byte(l.String()), nil
}

// UnmarshalText takes what MarshalText makes.
func (l *Leases) UnmarshalText(text []byte) error {
	for i, name := range leasesNames {
		if string(text) == name {
			*l = Leases(i)
			return nil
		}
	}
	return fmt.Errorf("%q is none of the choices: want auto, on, off", text)
}
