package remote_test

import (
	"testing"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/remote"
)

// A cache that is off closes its tier, without a server.
func TestOff(t *testing.T) {
	tier, err := remote.Open(remote.Options{Addrs: []string{"127.0.0.1:1"}, Namespace: "off", Staleness: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	c, err := firn.Open(firn.Options{Off: true, RAMBytes: firn.MinRAMBytes, Shared: tier})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Set([]byte("k"), []byte("v")); err != nil {
		t.Error(err)
	}
	if _, err := firn.Open(firn.Options{RAMBytes: firn.MinRAMBytes, Shared: tier}); err == nil {
		t.Error("the tier is not closed")
	}
	c.Close()
}
