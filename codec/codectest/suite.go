package codectest

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/firncache/firn"
)

// User is a struct with a field of most kinds.
type User struct {
	ID      int64
	Name    string
	Score   float64
	Photo   []byte
	Tags    []string
	Home    *Address
	Others  []Address
	ByName  map[string]int
	Any     any
	Created time.Time
}

// Address is a struct within a User.
type Address struct {
	Street string
	Zip    [5]byte
}

func sample() User {
	return User{
		ID: -7, Name: "Ötzi", Score: 1.5, Photo: []byte{0, 1, 2}, Tags: []string{"a", "b"},
		Home: &Address{"Gletscher 1", [5]byte{1, 2, 3, 4, 5}}, Others: []Address{{}, {"x", [5]byte{}}},
		ByName: map[string]int{"a": 1}, Any: "text", Created: time.Unix(1_700_000_000, 123_456_789),
	}
}

func equal(a, b User) bool {
	same := a.Created.Equal(b.Created)
	a.Created, b.Created = time.Time{}, time.Time{}
	return same && reflect.DeepEqual(a, b)
}

// Suite is one format's codecs of several types, for formats that take any type.
type Suite struct {
	User    firn.Codec[User]
	Pointer firn.Codec[*Address]
	Bytes   firn.Codec[[]byte]
	String  firn.Codec[string]
	Ints    firn.Codec[[]int]
	Strings firn.Codec[[]string]
	Map     firn.Codec[map[string]string]
	Counts  firn.Codec[map[string]int]
	Uint64  firn.Codec[uint64]
	Int64   firn.Codec[int64]
	Float32 firn.Codec[float32]
	Bool    firn.Codec[bool]
	Any     firn.Codec[any]
}

// Check checks each codec with values at the edges of its type and of usual
// encodings.
func (s *Suite) Check(t *testing.T) {
	t.Helper()
	Check(t, s.User, equal, sample())
	Check(t, s.Pointer, nil, &Address{Street: "s"}, nil)
	Check(t, s.Bytes, nil, []byte("bytes"), bytes.Repeat([]byte{1}, 300), bytes.Repeat([]byte{1}, 70_000))
	Check(t, s.String, nil, "", "text", strings.Repeat("x", 40), strings.Repeat("x", 300), strings.Repeat("x", 70_000))
	Check(t, s.String, nil, "\ufffd", `\ufffd`, `\\ufffd`)
	for _, v := range []string{"\xff", "a\xc0b", "\\\xff"} { // not UTF-8: refused, or kept as it is
		if _, err := s.String.Append(nil, v); err == nil {
			Check(t, s.String, nil, v)
		}
	}
	Check(t, s.Ints, nil, []int{}, make([]int, 10), make([]int, 100), make([]int, 70_000))
	Check(t, s.Strings, nil, []string{"a", ""})
	Check(t, s.Map, nil, map[string]string{"a": "b"})
	Check(t, s.Counts, nil, map[string]int{"a": 1})
	Check(t, s.Uint64, nil, 0, 127, 128, 1<<16, 1<<32, 1<<64-1)
	Check(t, s.Int64, nil, -1, -33, -129, -1<<31, -1<<63)
	Check(t, s.Float32, nil, 1.5)
	Check(t, s.Bool, nil, true, false)
}

// Fuzz fuzzes the codecs of the types that have the most to go wrong.
func (s *Suite) Fuzz(f *testing.F) {
	f.Helper()
	for _, v := range []User{sample(), {}} {
		b, err := s.User.Append(nil, v)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		Fuzz(t, s.User, src, 1000)
		Fuzz(t, s.Any, src, 1000)
		Fuzz(t, s.Strings, src, 1000)
		Fuzz(t, s.Counts, src, 1000)
	})
}
