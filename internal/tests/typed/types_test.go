package typed

import (
	"errors"

	"github.com/firncache/firn"
)

type userID int32

// user is the value of most tests here. Each other pair of types compiles all of a typed cache
// again: package kinds has the tests of those.
type user struct {
	ID   userID
	Name string
}

// oneWay is a key that cannot be read back.
type oneWay struct{ id byte }

func (k oneWay) AppendBinary(dst []byte) ([]byte, error) { return append(dst, k.id), nil }

// pickyKeys is a codec of keys that refuses "bad".
type pickyKeys struct{ firn.Codec[string] }

func (p pickyKeys) Append(dst []byte, key string) ([]byte, error) {
	if key == "bad" {
		return dst, errBadKey
	}
	return p.Codec.Append(dst, key)
}

var errBadKey = errors.New("bad key")
