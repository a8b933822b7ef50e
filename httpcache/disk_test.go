package httpcache_test

import (
	"errors"
	"testing"

	"github.com/firncache/firn"
	"github.com/firncache/firn/firntest"
	"github.com/firncache/firn/httpcache"
)

// With a disk that fails, before a body is stored or after that, each client gets all of the origin's body, and when
// the disk is well again nothing half is found.
func TestDiskFails(t *testing.T) {
	for _, ops := range []firntest.Ops{firntest.Writes, firntest.Reads, firntest.Reads | firntest.Writes | firntest.Syncs} {
		for _, way := range []string{"Transport", "Handler"} {
			in := firntest.New(t, firntest.SSD(), firntest.Options(func(o *firn.Options) { o.RAMBytes = 16 << 20 }))
			c, err := httpcache.New(in.Cache, "test", httpcache.Options{})
			if err != nil {
				t.Fatal(err)
			}
			o := &sized{bytes: patterned(1 << 20), etag: `"a"`}
			through := clients(c, o)[way]
			whole := func(what string) {
				t.Helper()
				in.DemoteAll()
				if body, aborted := read(t, through); aborted || body != string(o.bytes) {
					t.Errorf("%s, %d, %s: %d bytes, broken off: %v", way, ops, what, len(body), aborted)
				}
			}
			whole("before")
			in.Disk.Fail(ops, errors.New("input/output error"))
			whole("stored on a disk that fails")
			if err := c.PurgeAll(t.Context()); err != nil {
				t.Fatal(err)
			}
			whole("to be stored on a disk that fails")
			whole("what of it is found")
			in.Disk.Heal()
			whole("healed")
		}
	}
}
