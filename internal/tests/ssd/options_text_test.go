package ssd

import (
	"encoding"
	"encoding/json"
	"strings"
	"testing"

	"github.com/firncache/firn"
)

// Every choice is written by its name, and read again; nothing else is read.
func TestChoicesAsText(t *testing.T) {
	checkChoices(t, firn.AdmitSeen, firn.AdmitRead, firn.AdmitAll)
	checkChoices(t, firn.DirectAuto, firn.DirectOn, firn.DirectOff)
	checkChoices(t, firn.RecoverSafe, firn.RecoverAlways, firn.RecoverNever)
}

func checkChoices[T interface {
	~uint8
	encoding.TextMarshaler
}, P interface {
	*T
	encoding.TextUnmarshaler
}](t *testing.T, choices ...T) {
	t.Helper()
	for i, c := range choices {
		if int(c) != i {
			t.Errorf("%v is choice %d, want %d", c, c, i)
		}
		text, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		got := ^c
		if err := json.Unmarshal(text, P(&got)); err != nil || got != c {
			t.Errorf("%s: %v, %v: want %v", text, got, err, c)
		}
	}
	got := choices[1]
	for _, bad := range []string{"", "none", "SEEN", "Admission(3)", "DirectIO(3)", "Recovery(3)"} {
		if err := P(&got).UnmarshalText([]byte(bad)); err == nil || got != choices[1] || !strings.Contains(err.Error(), "want ") {
			t.Errorf("%q: %v, %v", bad, got, err)
		}
	}
}
