package codec_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/firncache/firn/internal/codec"
)

type (
	hex16     struct{ N int }     // reads a text, and writes a struct
	unixTime  struct{ Sec int }   // reads a number, and writes a struct
	defaulted struct{ At, N any } // reads what it writes
	lowerOnly string              // reads lower case alone
	loud      string              // writes upper case, but not as a key
	northing  struct{ N string }
	easting   struct{ E string }
)

func (h *hex16) UnmarshalText(b []byte) error { return nil }

func (u *unixTime) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, &u.Sec) }

func (d *defaulted) UnmarshalJSON(b []byte) error {
	type plain defaulted
	d.N = "default"
	return json.Unmarshal(b, (*plain)(d))
}

func (l *lowerOnly) UnmarshalText(b []byte) error {
	if *l = lowerOnly(b); strings.ToLower(string(b)) != string(b) {
		return errors.New("not lower case")
	}
	return nil
}

func (l loud) MarshalText() ([]byte, error) { return []byte(strings.ToUpper(string(l))), nil }

func (l *loud) UnmarshalText(b []byte) error { *l = loud(strings.ToLower(string(b))); return nil }

func (n northing) MarshalText() ([]byte, error) { return []byte(n.N), nil }

func (n *northing) UnmarshalText(b []byte) error { n.N = string(b); return nil }

func (e easting) MarshalText() ([]byte, error) { return []byte(e.E), nil }

func (e *easting) UnmarshalText(b []byte) error { e.E = string(b); return nil }

// A type may read itself and leave the writing to JSON. What of its values does
// not come back then is refused, and the others are taken.
func TestDefaultOfTypesThatOnlyRead(t *testing.T) {
	t.Parallel()
	for _, name := range []func() (string, error){nameOf[hex16], nameOf[[]*hex16]} {
		if _, err := name(); err == nil || !strings.Contains(err.Error(), "has UnmarshalText and no MarshalText") {
			t.Errorf("got %v: JSON reads none of its values", err)
		}
	}
	const why = "does not come back from its own method"
	refusesValue(t, ".U "+why, struct{ U unixTime }{unixTime{7}})
	refusesValue(t, why, &unixTime{7})
	refusesValue(t, ".L "+why, struct{ L lowerOnly }{"Loud"})
	refusesValue(t, `["Loud"] has a key that `+why, map[lowerOnly]int{"Loud": 1})
	refusesValue(t, `["Loud"] has a key that `+why, map[loud]int{"Loud": 1})

	checkCodec(t, defaulted{"a", "b"}, defaulted{})
	checkCodec(t, struct{ L lowerOnly }{"quiet"})
	checkCodec(t, map[lowerOnly]int{"quiet": 1})
	checkCodec(t, map[loud]loud{"quiet": "quiet"})
	c, err := codec.Default[defaulted]()
	if err != nil {
		t.Fatal(err)
	}
	if _, err = c.Append(nil, defaulted{At: time.Now()}); err == nil {
		t.Error("a time in an interface was taken")
	}
}

// Embedded structs whose methods are not the outer one's are fields to JSON, and
// are looked at as such.
func TestDefaultOfEmbeddedMarshalers(t *testing.T) {
	t.Parallel()
	type place struct {
		northing
		easting
		Name string
	}
	checkCodec(t, place{northing{"n"}, easting{"e"}, "here"}, place{Name: "\ufffd"})
	refusesValue(t, ".Name is not UTF-8", place{Name: "\xff"})
	refusesValue(t, ".northing.N is not UTF-8", place{northing: northing{"\xff"}})
}
