package remote

import (
	"fmt"
	"strings"
	"testing"

	"github.com/firncache/firn/remote/internal/servertest"
)

// Keys that are read from local copies stay on a server that evicts; and it is seen to evict.
func TestReadKeysStay(t *testing.T) {
	s := servertest.Start(t, servertest.Options{MaxMemory: "6mb", Config: []string{"maxmemory-policy allkeys-lfu"}})
	a := open(t, Options{}, s.Addr)
	var keys [][]byte
	for i := range 8 {
		keys = append(keys, fmt.Append(nil, "key", i), fmt.Append(nil, "key", i))
		put(s, a.names.Entry(keys[2*i]), string(envelopeOf(7, "v")))
	}
	if n := a.evictions(t.Context()); n != 0 {
		t.Fatalf("%d were evicted before", n)
	}
	for range 200 { // as in a minute of use
		a.touchKeys(keys)
	}
	value := strings.Repeat("v", 10_000)
	for i := range 3000 {
		if i%100 == 0 {
			a.touchKeys(keys)
		}
		s.Do("SET", fmt.Sprint("other", i), value)
		s.Do("GET", fmt.Sprint("other", i))
	}
	for _, key := range keys {
		if a.valueAt(t, string(key)) != "v" {
			t.Errorf("%s was evicted", key)
		}
	}
	if n := a.evictions(t.Context()); n == 0 {
		t.Error("nothing was evicted")
	}
}
