package adapters

import "context"
import "github.com/firncache/firn"

// Fastcache has the methods of fastcache.Cache. Has is firn's own.
type Fastcache struct{ *firn.Cache }

// Set stores a value, of any size.
func (c Fastcache) Set(k, v []byte) {
	if c.Cache.Set(k, v) != nil {
		c.Del(k)
	}
}

// Get appends the value of k to dst.
func (c Fastcache) Get(dst, k []byte) []byte {
	dst, _ = c.HasGet(dst, k)
	return dst
}

// HasGet is Get that tells whether there is a value.
func (c Fastcache) HasGet(dst, k []byte) ([]byte, bool) { return c.Cache.Get(dst, k) }

// Del removes the value of k. It fails for a closed cache alone, which holds none.
func (c Fastcache) Del(k []byte) { _ = c.Delete(k) }

// Reset removes all values.
func (c Fastcache) Reset() { _ = c.Clear(context.Background()) }

// SetBig is Set, which takes values of all sizes.
func (c Fastcache) SetBig(k, v []byte) { c.Set(k, v) }

// GetBig is Get.
func (c Fastcache) GetBig(dst, k []byte) []byte { return c.Get(dst, k) }
