package plan

import (
	"net/netip"
	"reflect"
	"time"
)

// IsImmutable reports whether values of a type share no memory that one who has a copy could
// change.
func IsImmutable(t reflect.Type) bool {
	switch t {
	case reflect.TypeFor[time.Time](), reflect.TypeFor[netip.Addr](), reflect.TypeFor[netip.AddrPort](), reflect.TypeFor[netip.Prefix]():
		return true
	}
	switch k := t.Kind(); k {
	case reflect.Array:
		return IsImmutable(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if !IsImmutable(t.Field(i).Type) {
				return false
			}
		}
		return true
	default:
		return k == reflect.String || k >= reflect.Bool && k <= reflect.Complex128
	}
}
