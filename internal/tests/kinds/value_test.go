package kinds

import (
	"encoding/json"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/tests/harness"
)

type (
	celsius float64
	userID  int32
	label   string
	digest  [20]byte
)

type user struct {
	ID      userID
	Name    string
	Born    time.Time
	Tags    []string `json:"tags,omitempty"`
	Friends map[string]*user
	Raw     json.RawMessage
}

// What would not come back as it was, a typed cache does not take, with an error that names it.
func TestLossyTypesAreRefused(t *testing.T) {
	type anything struct{ Any any }
	type sealed struct{ at, count int }
	_ = sealed{at: 1, count: 1}
	c := harness.OpenSmall(t)
	_, errOfType := firn.NewTyped(c, "n", firn.TypedOptions[int, []anything]{})
	_, errOfField := firn.NewTyped(c, "n", firn.TypedOptions[int, map[string]*sealed]{})
	_, errOfKey := firn.NewTyped(c, "n", firn.TypedOptions[struct {
		netip.Addr
		Port uint16
	}, int]{})
	for _, refused := range []struct {
		by   string
		err  error
		want string
	}{
		{"NewTyped, an interface", errOfType, "anything[].Any is an interface"},
		{"NewTyped, a field", errOfField, "[].at is unexported: set a Codec, or leave the field out"},
		{"NewTyped, its keys", errOfKey, "from its embedded netip.Addr"},
	} {
		if refused.err == nil || !strings.Contains(refused.err.Error(), refused.want) {
			t.Errorf("%s: %v, want an error with %q", refused.by, refused.err, refused.want)
		}
	}
	if _, err := firn.NewTyped(c, "n", firn.TypedOptions[int, anything]{Codec: firn.JSONCodec[anything]()}); err != nil {
		t.Errorf("JSONCodec: %v", err)
	}
}
