package cbor

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/firncache/firn/codec/codectest"
)

type address struct {
	Street string
	Zip    [5]byte
}

type user struct {
	ID      int64
	Name    string
	Score   float64
	Photo   []byte
	Tags    []string
	Home    *address
	Others  []address
	ByName  map[string]int
	Any     any
	Created time.Time
}

func sample() user {
	return user{
		ID: -7, Name: "Ötzi", Score: 1.5, Photo: []byte{0, 1, 2}, Tags: []string{"a", "b"},
		Home: &address{"Gletscher 1", [5]byte{1, 2, 3, 4, 5}}, Others: []address{{}, {"x", [5]byte{}}},
		ByName: map[string]int{"a": 1}, Any: "text", Created: time.Unix(1_700_000_000, 123_456_789),
	}
}

func equal(a, b user) bool {
	same := a.Created.Equal(b.Created)
	a.Created, b.Created = time.Time{}, time.Time{}
	return same && reflect.DeepEqual(a, b)
}

func TestCBOR(t *testing.T) {
	codectest.Check(t, New[user](), equal, sample())
	codectest.Check(t, New[*address](), nil, &address{Street: "s"}, nil)
	codectest.Check(t, New[[]byte](), nil, []byte("bytes"), bytes.Repeat([]byte{1}, 300), bytes.Repeat([]byte{1}, 70_000))
	codectest.Check(t, New[string](), nil, "", "text", strings.Repeat("x", 40), strings.Repeat("x", 300), strings.Repeat("x", 70_000))
	codectest.Check(t, New[[]int](), nil, []int{}, make([]int, 10), make([]int, 100), make([]int, 70_000))
	codectest.Check(t, New[map[string]string](), nil, map[string]string{"a": "b"})
	codectest.Check(t, New[uint64](), nil, 0, 127, 128, 1<<16, 1<<32, 1<<64-1)
	codectest.Check(t, New[int64](), nil, -1, -33, -129, -1<<31, -1<<63)
	codectest.Check(t, New[float32](), nil, 1.5)
	codectest.Check(t, New[bool](), nil, true, false)
}

func FuzzCBOR(f *testing.F) {
	codec, anything := New[user](), New[any]()
	for _, v := range []user{sample(), {}} {
		b, err := codec.Append(nil, v)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		codectest.Fuzz(t, codec, src, 1000)
		codectest.Fuzz(t, anything, src, 1000)
		codectest.Fuzz(t, New[[]string](), src, 1000)
		codectest.Fuzz(t, New[map[string]int](), src, 1000)
	})
}
