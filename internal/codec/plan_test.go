package codec_test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"net/netip"
	"net/url"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/firncache/firn/internal/codec"
)

// kinds has a field of every kind that a plan has steps for.
type kinds struct {
	I8   int8
	I    int
	U16  uint16
	F    float32
	D    celsius
	C    complex64
	B    bool
	Bs   [3]bool
	S    label
	Raw  blob
	Nums []float32
	Text []string
	Arr  [2]string
	Hash digest
	M    map[string]int16
	P    *int
	PP   **string
	At   time.Time
	Addr netip.Addr
	URL  *url.URL
	Big  big.Int
	Null sql.NullString
	base
	Rows []struct {
		ID   int64
		Tags map[string]string
	}
}

type (
	base  struct{ ID int }
	chain struct{ Next *chain }
	tree  []tree
	named map[label]userID
	fork  struct {
		Kids [][1]fork
		By   map[[2]label][1]*fork
		Name string
	}
)

var _ = odd{cache: nil}

// odd has what is left out, and what looks as if its methods spoke for all of it.
type odd struct {
	time.Time
	_     int32
	Name  string     `json:"-"`
	Made  string     `json:"Name"`
	cache []int      `firn:"-"`
	Lock  sync.Mutex `firn:"-"`
	*chain
	Empty []struct{ _ int8 }
	None  []struct{}
}

// sealed has a form as JSON alone, and cents one as text.
type (
	sealed struct{ n int }
	cents  struct{ n int }
)

func (s sealed) MarshalJSON() ([]byte, error)  { return json.Marshal(s.n) }
func (s *sealed) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, &s.n) }
func (c cents) MarshalText() ([]byte, error)   { return json.Marshal(c.n) }
func (c *cents) UnmarshalText(b []byte) error  { return json.Unmarshal(b, &c.n) }

// stamped declares methods that it would otherwise have from time.Time.
type stamped struct {
	time.Time
	Name string
}

func (s stamped) MarshalBinary() ([]byte, error) { return []byte("named " + s.Name), nil }
func (s stamped) AppendBinary(dst []byte) ([]byte, error) {
	return append(dst, "named "+s.Name...), nil
}
func (s *stamped) UnmarshalBinary(b []byte) (err error) {
	name, ok := strings.CutPrefix(string(b), "named ")
	if s.Name = name; !ok {
		err = errors.New("not named")
	}
	return err
}

func kindsSample() kinds {
	n, s := 7, "behind two pointers"
	p := &s
	k := kinds{
		I8: -1, I: math.MinInt, U16: 65535, F: 1.5, D: -273.15, C: complex(1, -2), B: true, Bs: [3]bool{true, false, true},
		S: "not UTF-8: \xff\xc0", Raw: blob{0, 1, 2}, Nums: []float32{1, 2, 3}, Text: []string{"", "a"}, Arr: [2]string{"x", "y"},
		Hash: digest{1}, M: map[string]int16{"a": 1, "b": -2, "": 3}, P: &n, PP: &p,
		At: time.Date(2026, 2, 3, 4, 5, 6, 789, time.UTC), Addr: netip.MustParseAddr("10.0.0.1"),
		URL: &url.URL{Scheme: "https", Host: "example.org"}, Big: *big.NewInt(1 << 40), Null: sql.NullString{String: "s", Valid: true},
		base: base{9},
	}
	k.Rows = append(k.Rows, k.Rows...)
	k.Rows = slices.Grow(k.Rows, 1)[:1]
	k.Rows[0].ID, k.Rows[0].Tags = 5, map[string]string{"k": "v"}
	return k
}

func TestPlans(t *testing.T) {
	t.Parallel()
	checkCodec(t, kindsSample(), kinds{Raw: blob{}, Nums: []float32{}, Text: []string{}, M: map[string]int16{}})
	checkCodec(t, odd{Time: time.Unix(1, 2).UTC(), Name: "n", Made: "m", chain: &chain{&chain{}}, Empty: make([]struct{ _ int8 }, 3), None: make([]struct{}, 5)})
	checkCodec(t, []float32{}, []float32{1}, make([]float32, 1536), nil)
	checkCodec(t, []bool{true, false}, []bool{}, nil)
	checkCodec(t, [][]byte{{1}, {}, nil}, nil)
	checkCodec(t, []complex128{1i})
	checkCodec(t, [2][3]int16{{1, 2, 3}, {4, 5, 6}})
	checkCodec(t, [2][]string{{"a"}, nil})
	checkCodec(t, []struct{ A, B int32 }{{1, 2}, {3, 4}})
	checkCodec(t, []struct {
		A int64
		B int8
	}{{1, 2}, {3, 4}})
	checkCodec(t, named{"a": 1, "b": 2}, named{}, nil)
	checkCodec(t, map[netip.Addr]*big.Int{netip.MustParseAddr("::1"): big.NewInt(5), {}: nil})
	checkCodec(t, map[[2]string]struct{}{{"a", "b"}: {}, {"ab", ""}: {}})
	checkCodec(t, map[struct{}]int{{}: 7})
	checkCodec(t, tree{{}, nil, {{}}}, tree{}, nil)
	checkCodec(t, &chain{&chain{&chain{}}}, nil)
	checkCodec(t, fork{Name: "all", Kids: [][1]fork{{{Name: "a"}}, {{Kids: [][1]fork{{}, {{Name: "c"}}}}}},
		By: map[[2]label][1]*fork{{"x"}: {{Name: "d"}}, {"", "y"}: {nil}}})
	checkCodec(t, sealed{3})
	checkCodec(t, []sealed{{3}})
	checkCodec(t, cents{4})
	checkCodec(t, map[string]*cents{"a": {4}, "b": nil})
	checkCodec(t, stamped{Name: "own methods"})
	checkCodec(t, []stamped{{Name: strings.Repeat("long", 100)}})
	checkCodec(t, &stamped{Name: "n"}, nil)
	checkCodec(t, struct{ stamped }{stamped{Name: "promoted"}})
	checkCodec(t, []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")})
	checkCodec(t, strings.Split(strings.Repeat("a longer text|", 100), "|"))
}

// Arrays of what becomes no bytes take no time, however long they are.
func TestLongArraysOfNothing(t *testing.T) {
	t.Parallel()
	testNothing(t, [1 << 40]struct{}{})
	testNothing(t, [1 << 30][1 << 10]struct{}{})
	testNothing(t, [1 << 40][0]string{})
}

func testNothing[V any](t *testing.T, v V) {
	t.Helper()
	c := defaultOf[V](t)
	b, err := c.Append(nil, v)
	if err != nil || len(b) > 0 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	if _, err = c.Decode(b); err != nil {
		t.Error(err)
	}
}

// A type of which something would not come back is refused, with its path.
func TestPlanRefuses(t *testing.T) {
	t.Parallel()
	type inner struct {
		secret int
		Known  int
	}
	_ = inner{}.secret
	for _, c := range []struct {
		name func() (string, error)
		want string
	}{
		{nameOf[any], "is an interface"},
		{nameOf[map[string]any], "map[string]interface {}[] is an interface"},
		{nameOf[struct{ E []error }], ".E[] is an interface"},
		{nameOf[inner], "inner.secret is unexported: set a Codec, or leave the field out with the tag `firn:\"-\"`"},
		{nameOf[map[string][]*inner], "[][].secret is unexported"},
		{nameOf[struct{ inner }], ".inner.secret is unexported"},
		{nameOf[struct{ userID }], ".userID is unexported"},
		{nameOf[struct{ Mu sync.Mutex }], ".Mu."},
		{nameOf[struct{ F func() }], ".F is of type func(), which has no data"},
		{nameOf[struct{ C chan int }], ".C is of type chan int"},
		{nameOf[struct{ U uintptr }], ""},
		{nameOf[map[*int]string], "has keys with pointers"},
		{nameOf[map[struct{ P [2]*int }]string], "has keys with pointers"},
		{nameOf[map[any]string], "[key] is an interface"},
		{nameOf[struct {
			A int `firn:"omitempty"`
		}], ".A has the tag `firn:\"omitempty\"`: want"},
		{nameOf[struct {
			sealed
			F func()
		}], ".F is of type func()"}, // its JSON is sealed's alone
		{nameOf[struct{ S sealed }], ""},
	} {
		name, err := c.name()
		if c.want == "" && (err != nil || !strings.HasPrefix(name, "plan/1 ")) {
			t.Errorf("got %s, %v, want a plan", name, err)
		}
		if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("got %v, want an error with %q", err, c.want)
		}
	}
}

// The name changes with whatever changes the bytes or their meaning, and with nothing else.
func TestPlanNames(t *testing.T) {
	t.Parallel()
	type v1 = struct{ A, B int }
	names := map[string]string{}
	for what, name := range map[string]func() (string, error){
		"two ints":        nameOf[v1],
		"other order":     nameOf[struct{ B, A int }],
		"another field":   nameOf[struct{ A, B, C int }],
		"another type":    nameOf[struct{ A, B uint }],
		"declared type":   nameOf[struct{ A, B userID }],
		"behind pointers": nameOf[struct{ A, B *int }],
		"a slice":         nameOf[[]v1],
		"an array":        nameOf[[2]v1],
		"as an element":   nameOf[struct{ A, B []int }],
		"an inner field":  nameOf[[]struct{ A, B, C int }],
		"beside a time":   nameOf[struct{ time.Time }],
		"and a name": nameOf[struct {
			time.Time
			A int
		}],
	} {
		n, err := name()
		if err != nil {
			t.Error(err)
		}
		if other, taken := names[n]; taken {
			t.Errorf("%q and %q have one name", what, other)
		}
		names[n] = what
	}
	n, _ := nameOf[v1]()
	for what, same := range map[string]func() (string, error){
		"tags": nameOf[struct {
			A int `json:"a"`
			B int
		}],
		"left out": nameOf[struct {
			A int
			_ string
			B int
			F func() `firn:"-"`
		}],
	} {
		if other, err := same(); other != n || err != nil {
			t.Errorf("%s: got %q, %v, want %q", what, other, err, n)
		}
	}
}

// NaN comes back bit by bit, and does not keep a map from being written in one order.
func TestPlanOfNaN(t *testing.T) {
	t.Parallel()
	c := defaultOf[map[float64][]float64](t)
	nan := math.Float64frombits(0x7ff8_dead_beef_0001)
	m := map[float64][]float64{nan: {1}, math.NaN(): {nan}, 0: nil}
	m[nan] = []float64{2} // NaN equals no key: one more
	first, err := c.Append(nil, m)
	if err != nil {
		t.Fatal(err)
	}
	back, err := c.Decode(first)
	if err != nil || len(back) != 4 {
		t.Fatalf("got %v, %v, want four entries", back, err)
	}
	if again, err := c.Append(nil, back); err != nil || !bytes.Equal(again, first) {
		t.Errorf("written again: %x, %v, want %x", again, err, first)
	}
}

// Equal maps have equal bytes, in whichever order they are walked.
func TestPlanSortsMaps(t *testing.T) {
	t.Parallel()
	c := defaultOf[map[string]map[int]string](t)
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.MapOf(rapid.String(), rapid.MapOf(rapid.Int(), rapid.String())).Draw(t, "map")
		first, err := c.Append(nil, m)
		if err != nil {
			t.Fatal(err)
		}
		back, err := c.Decode(first)
		if err != nil || !reflect.DeepEqual(back, m) {
			t.Fatalf("got %v, %v, want %v", back, err, m)
		}
		for range 4 {
			if again, err := c.Append(nil, back); err != nil || !bytes.Equal(again, first) {
				t.Fatalf("written again: %x, %v, want %x", again, err, first)
			}
		}
	})
}

// A cycle is an error, and so is what is as deep: written or read.
func TestPlanOfCycle(t *testing.T) {
	t.Parallel()
	ring := &chain{&chain{}}
	ring.Next.Next = ring
	chains := defaultOf[*chain](t)
	if _, err := chains.Append(nil, ring); err == nil || !strings.Contains(err.Error(), "or is a cycle") {
		t.Errorf("a ring of pointers: %v", err)
	}
	self := tree{nil, nil}
	self[0], self[1] = self, self
	trees := defaultOf[tree](t)
	if _, err := trees.Append(nil, self); err == nil || !strings.Contains(err.Error(), "or is a cycle") {
		t.Errorf("a ring of slices: %v", err)
	}
	if _, err := chains.Decode(bytes.Repeat([]byte{1}, 1<<20)); err == nil {
		t.Error("a million pointers were read")
	}
}

// Bytes that promise much are an error, before memory is taken for it.
func TestPlanOfHugeLengths(t *testing.T) {
	for _, length := range [][]byte{
		{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01},
		{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f},
		{0x80, 0x80, 0x80, 0x80, 0x80, 0x20},
		{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
	} {
		for name, decode := range map[string]func([]byte) error{
			"strings": decoder[[]string], "numbers": decoder[[]float32], "structs": decoder[[]kinds], "map": decoder[map[string]string],
			"string": decoder[struct{ S string }], "methods": decoder[[]big.Int], "unseen": decoder[[]struct{ _ [1 << 20]int }],
			"no keys": decoder[map[struct{}]struct{}], "pointers": decoder[[]*kinds],
		} {
			src := append(bytes.Clone(length), "some bytes"...)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if decode(src) == nil {
				t.Errorf("%s: %x was read", name, length)
			}
			if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 1<<20 {
				t.Errorf("%s of %x: %d bytes were allocated", name, length, after.TotalAlloc-before.TotalAlloc)
			}
		}
	}
}

func decoder[V any](src []byte) error {
	c, err := codec.Default[V]()
	if err == nil {
		_, err = c.Decode(src)
	}
	return err
}

// Who appends to one copy of a slice does not write into another's, nor into the bytes.
func TestPlanSlicesEnd(t *testing.T) {
	t.Parallel()
	c := defaultOf[struct {
		Plain []int8
		Text  []string
	}](t)
	b, err := c.Append(nil, struct {
		Plain []int8
		Text  []string
	}{[]int8{1, 2, 3}, []string{"a", "b", "c", "d", "e"}})
	if err != nil {
		t.Fatal(err)
	}
	v, err := c.Decode(b)
	if err != nil || cap(v.Plain) != 3 || cap(v.Text) != 5 {
		t.Errorf("got slices with room for %d and %d, %v: want 3 and 5", cap(v.Plain), cap(v.Text), err)
	}
}
