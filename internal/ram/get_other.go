//go:build !amd64 || race || firn_skip_validation

package ram

import "github.com/firncache/firn/internal/offheap"

// Get appends the value of key to dst; without one it returns dst unchanged.
func (t *Tier) Get(dst, key []byte) ([]byte, bool) { return getAny(t, dst, offheap.String(key)) }
