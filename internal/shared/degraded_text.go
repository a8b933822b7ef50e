package shared

import "fmt"

var degradedNames = [...]string{DegradedMiss: "miss", DegradedStale: "stale", DegradedError: "error"}

// String is the way's name: miss, stale or error.
func (d Degraded) String() string {
	if int(d) < len(degradedNames) {
		return degradedNames[d]
	}
	return fmt.Sprintf("Degraded(%d)", uint8(d))
}

// MarshalText is the way's name.
func (d Degraded) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText takes "miss", "stale" or "error".
func (d *Degraded) UnmarshalText(text []byte) error {
	for way, name := range degradedNames {
		if name == string(text) {
			*d = Degraded(way)
			return nil
		}
	}
	return fmt.Errorf("%q is none of the choices: want miss, stale, error", text)
}
