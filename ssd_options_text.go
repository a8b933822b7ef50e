package firn

import (
	"fmt"
	"strings"
)

// The choices of SSDOptions have the names that String gives them, also as text:
// in JSON, for instance, and in the files of package config.

// MarshalText is the choice's name.
func (a Admission) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText takes "seen", "read" or "all".
func (a *Admission) UnmarshalText(text []byte) error { return named(a, AdmitAll, text) }

// MarshalText is the choice's name.
func (d DirectIO) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText takes "auto", "on" or "off".
func (d *DirectIO) UnmarshalText(text []byte) error { return named(d, DirectOff, text) }

// MarshalText is the choice's name.
func (r Recovery) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText takes "safe", "always" or "never".
func (r *Recovery) UnmarshalText(text []byte) error { return named(r, RecoverNever, text) }

// named sets v to the choice of that name, of those from 0 to last.
func named[T interface {
	~uint8
	fmt.Stringer
}](v *T, last T, text []byte) error {
	var names []string
	for choice := T(0); choice <= last; choice++ {
		if choice.String() == string(text) {
			*v = choice
			return nil
		}
		names = append(names, choice.String())
	}
	return fmt.Errorf("%q is none of the choices: want %s", text, strings.Join(names, ", "))
}
