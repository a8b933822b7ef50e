package firn

import (
	"reflect"

	"github.com/firncache/firn/internal/shared"
)

// SharedTier is a tier on a server that the caches of several processes share. Package
// github.com/firncache/firn/remote makes it: remote.Open.
type SharedTier = shared.Tier

// validateShared refuses a nil pointer, such as a remote.Open that failed returns.
func (o *Options) validateShared() error {
	if v := reflect.ValueOf(o.Shared); v.Kind() == reflect.Pointer && v.IsNil() {
		return badOption("Shared", "is a nil %v: want one that remote.Open returned without an error, or none", v.Type())
	}
	return nil
}
