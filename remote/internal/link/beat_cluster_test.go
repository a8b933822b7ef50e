package link

import (
	"fmt"
	"testing"

	"github.com/firncache/firn/remote/internal/entry"
	"github.com/firncache/firn/remote/internal/slots"
)

func TestEverySlotHasTag(t *testing.T) {
	c := &Conn{Settings: &Settings{Names: entry.Names{Prefix: "ns:"}}}
	for slot := range slots.Count {
		if got := slots.Of(c.beatName(slot)); got != slot {
			t.Fatalf("%s is in slot %d, want %d", c.beatName(slot), got, slot)
		}
	}
}

func TestParseClusterInfo(t *testing.T) {
	for text, want := range map[string]string{
		"cluster_state:ok\r\ncluster_my_epoch:7\r\n":     "7 true",
		"txt:cluster_state:ok\r\ncluster_my_epoch:7\r\n": "7 true",
		"cluster_state:fail\r\ncluster_my_epoch:7\r\n":   "7 false",
		"cluster_state:ok\r\n":                           "0 false",
		"cluster_my_epoch:7\r\n":                         "7 false",
		"":                                               "0 false",
	} {
		if epoch, ok := parseClusterInfo(text); fmt.Sprint(epoch, ok) != want {
			t.Errorf("%q: %d %v, want %s", text, epoch, ok, want)
		}
	}
}
