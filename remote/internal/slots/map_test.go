package slots

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
)

// decode is an answer of JSON as the transport gives it.
func decode(text []byte) any {
	var v any
	if json.Unmarshal(text, &v) != nil {
		return nil
	}
	return whole(v)
}

// whole turns numbers into int64.
func whole(v any) any {
	switch v := v.(type) {
	case float64:
		return int64(v)
	case []any:
		for i := range v {
			v[i] = whole(v[i])
		}
	}
	return v
}

func TestParseSlots(t *testing.T) {
	for text, want := range map[string]string{
		`[]`: `[]`,
		`[[0,5,["10.0.0.1",7000,"a",[]],["10.0.0.4",7003,"d"]],[6,9,["10.0.0.2",7001,"b"]],[10,10,["10.0.0.1",7000,"a"]]]`: `[{a 10.0.0.1:7000 [{0 5} {10 10}]} {b 10.0.0.2:7001 [{6 9}]}]`,
		`[[0,16383,[null,7000,"a"]]]`:        `[{a asked:7000 [{0 16383}]}]`, // the host that was asked
		`[[0,16383,["",7000,"a"]]]`:          `[{a asked:7000 [{0 16383}]}]`,
		`[[0,16383,["?",7000,"a"]]]`:         `[{a  [{0 16383}]}]`, // not known
		`[[0,16383,["h",0,"a"]]]`:            `[{a  [{0 16383}]}]`,
		`[[0,1,["h",70000,"a"]]]`:            `[{a  [{0 1}]}]`,
		`[[0,1,["2001:db8::1",7000,"a"]]]`:   `[{a [2001:db8::1]:7000 [{0 1}]}]`,
		`[[0,1,["host.example",7000,"a"]]]`:  `[{a host.example:7000 [{0 1}]}]`,
		`[[0,1,["h",7000,"a"],"x",null,[]]]`: `[{a h:7000 [{0 1}]}]`,
	} {
		got, err := Parse(decode([]byte(text)), "asked")
		if err != nil || fmt.Sprint(got) != want {
			t.Errorf("%s: %v, %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{
		`1`, `"x"`, `[1]`, `[[]]`, `[[0,1]]`, `[[0,1,[]]]`, `[[0,1,["h",7000]]]`, `[["0",1,["h",7000,"a"]]]`,
		`[[-1,1,["h",7000,"a"]]]`, `[[2,1,["h",7000,"a"]]]`, `[[0,16384,["h",7000,"a"]]]`, `[[0,1,["h",7000,""]]]`,
	} {
		if got, err := Parse(decode([]byte(text)), "asked"); !errors.Is(err, errMap) {
			t.Errorf("%s: %v, %v, want an error", text, got, err)
		}
	}
}

func FuzzParseSlots(f *testing.F) {
	f.Add([]byte(`[[0,5,["10.0.0.1",7000,"a",[]],["10.0.0.4",7003,"d"]],[6,9,["",7001,"b"]]]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		members, err := Parse(decode(text), "asked")
		if err != nil && members != nil {
			t.Fatalf("%v beside %v", members, err)
		}
		for _, m := range members {
			if m.ID == "" || len(m.Slots) == 0 {
				t.Fatalf("%+v", m)
			}
			for _, r := range m.Slots {
				if !r.Valid() {
					t.Fatalf("%+v", m)
				}
			}
		}
	})
}
