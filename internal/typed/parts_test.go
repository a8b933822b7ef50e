package typed

import (
	"errors"
	"flag"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/firncache/firn/internal/offheap"
)

type (
	userID int64
	text   string
	padded struct {
		A int8
		B int64
		C int16
	}
	tenant struct{ Org, Team string }
	route  struct {
		From, To point
		Via      [2]point
		Express  bool
	}
	point struct{ X, Y float64 }
	mixed struct {
		U uint8
		S text
		F float32
		C complex64
		N userID
		B bool
		T string
	}
	nested struct {
		Tenant tenant
		Owner  userID
		Path   [3]tenant
	}
	blanked struct {
		A int32
		_ int32
		B string
		_ [3]byte
		C bool
	}
	hidden struct {
		a, b int16
		c    string
	}
	numbers struct {
		A [2][3]uint16
		B uint32
		C uintptr
		D [0]string
		E struct{}
	}
)

// A run is like the one before, unless another seed is given, and leaves no files.
func init() {
	if err := errors.Join(flag.Set("rapid.seed", "1"), flag.Set("rapid.nofailfile", "true")); err != nil {
		panic(err)
	}
}

// drawn fills a key with values that are often equal, and whose bytes could run
// together.
func drawn(t *rapid.T, v reflect.Value) {
	switch k := v.Kind(); k {
	case reflect.Struct:
		for i := range v.NumField() {
			drawn(t, v.Field(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			drawn(t, v.Index(i))
		}
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "bool"))
	case reflect.String:
		v.SetString(rapid.SampledFrom([]string{"", "a", "\x01", "\x01a", "aa", "\x00", strings.Repeat("a", 127), strings.Repeat("a", 128), strings.Repeat("a", 300)}).Draw(t, "string"))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(drawnFloat(t))
	case reflect.Complex64, reflect.Complex128:
		v.SetComplex(complex(drawnFloat(t), drawnFloat(t)))
	default:
		if v.CanInt() {
			v.SetInt(rapid.SampledFrom([]int64{0, 1, -1, 100, math.MinInt64, math.MaxInt64}).Draw(t, "int") >> (64 - v.Type().Bits()))
		} else {
			v.SetUint(rapid.SampledFrom([]uint64{0, 1, 255, math.MaxUint64}).Draw(t, "uint") >> (64 - v.Type().Bits()))
		}
	}
}

func drawnFloat(t *rapid.T) float64 {
	return rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 1, -1, math.Inf(1), math.Inf(-1), math.SmallestNonzeroFloat32}).Draw(t, "float")
}

// checkShape holds the keys of a type against ==: it agrees with their bytes, and
// the bytes lead back to the key.
func checkShape[K comparable](t *testing.T, draw func(*rapid.T) K) {
	t.Run(reflect.TypeFor[K]().String(), rapid.MakeCheck(func(t *rapid.T) {
		keys, err := NewKeys[K](nil)
		if err != nil || !keys.Exact() {
			t.Fatalf("exact: %v, %v", keys.Exact(), err)
		}
		a, b := draw(t), draw(t)
		bytesOfA, errA := keys.Append(nil, &a)
		bytesOfB, errB := keys.Append([]byte("before"), &b)
		if err := errors.Join(errA, errB); err != nil {
			t.Fatal(err)
		}
		bytesOfB = bytesOfB[len("before"):]
		if equal := slices.Equal(bytesOfA, bytesOfB); equal != (a == b) {
			t.Fatalf("%+v and %+v are equal: %v, their bytes %x and %x: %v", a, b, a == b, bytesOfA, bytesOfB, equal)
		}
		if back, err := keys.Parse(bytesOfA); err != nil || back != a {
			t.Fatalf("%+v came back as %+v, %v", a, back, err)
		}
		checkAltered(t, keys, bytesOfA)
	}))
}

// checkAltered alters the bytes of a key: they are those of another key then, or
// of none.
func checkAltered[K comparable](t *rapid.T, keys Keys[K], src []byte) {
	altered := slices.Clone(src)
	switch n := len(altered); rapid.IntRange(0, 2).Draw(t, "alter") {
	case 0:
		altered = append(altered, rapid.Byte().Draw(t, "added"))
	case 1:
		altered = altered[:rapid.IntRange(0, n).Draw(t, "cut")]
	case 2:
		if n > 0 {
			altered[rapid.IntRange(0, n-1).Draw(t, "at")] = rapid.SampledFrom([]byte{0, 1, 2, 0x7f, 0x80, 0xff}).Draw(t, "changed")
		}
	}
	if key, err := keys.Parse(altered); err == nil {
		if again, err := keys.Append(nil, &key); err != nil || !slices.Equal(again, altered) {
			t.Fatalf("%x is read as %+v, whose bytes are %x, %v", altered, key, again, err)
		}
	}
}

// drawnShape fills the exported fields of a key.
func drawnShape[K comparable](t *rapid.T) (k K) {
	drawn(t, reflect.ValueOf(&k).Elem())
	return k
}

func TestShapesOfKeys(t *testing.T) {
	checkShape(t, drawnShape[bool])
	checkShape(t, drawnShape[float32])
	checkShape(t, drawnShape[float64])
	checkShape(t, drawnShape[complex128])
	checkShape(t, drawnShape[struct{}])
	checkShape(t, drawnShape[[3]bool])
	checkShape(t, drawnShape[[2]string])
	checkShape(t, drawnShape[[4]userID])
	checkShape(t, drawnShape[padded])
	checkShape(t, drawnShape[tenant])
	checkShape(t, drawnShape[route])
	checkShape(t, drawnShape[mixed])
	checkShape(t, drawnShape[nested])
	checkShape(t, drawnShape[numbers])
	checkShape(t, func(t *rapid.T) hidden {
		return hidden{drawnShape[int16](t), drawnShape[int16](t), drawnShape[string](t)}
	})
	checkShape(t, func(t *rapid.T) (k blanked) {
		memory := offheap.FieldsOf(&k)
		for _, gap := range [][2]uintptr{{4, 4}, {24, 3}, {28, 4}} { // between A and B, B and C, and behind C
			for i := range memory.Bytes(gap[0], gap[1]) {
				memory.Bytes(gap[0], gap[1])[i] = rapid.Byte().Draw(t, "nobody's")
			}
		}
		k.A, k.B, k.C = rapid.Int32Range(0, 1).Draw(t, "A"), rapid.SampledFrom([]string{"", "b"}).Draw(t, "B"), rapid.Bool().Draw(t, "C")
		return k
	})
}

// Bytes are stored on disks: they are the same tomorrow and on other machines.
func TestBytesOfParts(t *testing.T) {
	checkBytes(t, padded{1, -2, 3}, "\x01"+"\xfe\xff\xff\xff\xff\xff\xff\xff"+"\x03\x00")
	checkBytes(t, tenant{"ab", ""}, "\x02ab\x00")
	checkBytes(t, point{1, math.Copysign(0, -1)}, "\x00\x00\x00\x00\x00\x00\xf0\x3f"+"\x00\x00\x00\x00\x00\x00\x00\x00")
	checkBytes(t, mixed{1, "x", 1, 1i, 2, true, ""}, "\x01"+"\x01x"+"\x00\x00\x80\x3f"+"\x00\x00\x00\x00\x00\x00\x80\x3f"+
		"\x02\x00\x00\x00\x00\x00\x00\x00"+"\x01"+"\x00")
	checkBytes(t, blanked{A: 1, B: "b", C: true}, "\x01\x00\x00\x00"+"\x01b"+"\x01")
	if got, want := layout(reflect.TypeFor[blanked]()), "github.com/firncache/firn/internal/typed.blanked {A int32 = int32/4; B string = string; C bool = bool; }"; got != want {
		t.Errorf("layout %q, want %q", got, want)
	}
}

func checkBytes[K comparable](t *testing.T, key K, want string) {
	t.Helper()
	checkKeys(t, nil, "parts "+layout(reflect.TypeFor[K]()), true, key, want)
}

func TestNaNIsNoKey(t *testing.T) {
	nan := math.NaN()
	refusesKey(t, nan, "the key is NaN, which equals no key: want a number")
	refusesKey(t, float32(nan), "the key is NaN")
	refusesKey(t, complex(1, nan), "the key is NaN")
	refusesKey(t, route{Via: [2]point{1: {Y: nan}}}, "field Via[1].Y is NaN")
}

func refusesKey[K comparable](t *testing.T, key K, want string) {
	t.Helper()
	keys, err := NewKeys[K](nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = keys.Append(nil, &key); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("Append of %v: %v, want %q", key, err, want)
	}
}

// Bytes that no key has are refused, so that two bytes never mean one key.
func TestBytesOfNoKey(t *testing.T) {
	noKey[tenant](t, "\x81\x00a\x00", "field Org cannot be read") // the length 1 in two bytes
	noKey[tenant](t, "\x02a", "field Org cannot be read")
	noKey[tenant](t, "\x01a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "field Team cannot be read")
	noKey[tenant](t, "\x01a\x01bc", "1 bytes are left over")
	noKey[bool](t, "\x02", "the key cannot be read")
	noKey[point](t, "\x00\x00\x00\x00\x00\x00\x00\x00"+"\x00\x00\x00\x00\x00\x00\x00\x80", "field Y cannot be read") // −0
	noKey[float32](t, "\x01\x00\x80\x7f", "the key cannot be read")                                                  // NaN
	noKey[padded](t, "\x01\x02", "field B cannot be read")
}

func noKey[K comparable](t *testing.T, src, want string) {
	t.Helper()
	keys, err := NewKeys[K](nil)
	if err != nil {
		t.Fatal(err)
	}
	if key, err := keys.Parse([]byte(src)); !errors.Is(err, errNoKey) || !strings.Contains(err.Error(), want) {
		t.Errorf("%q is read as %+v, %v: want an error with %q", src, key, err, want)
	}
}
