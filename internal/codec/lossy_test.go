package codec_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/netip"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/firncache/firn/internal/codec"
)

// stamped declares the methods that it would otherwise have from time.Time.
type stamped struct {
	time.Time
	Name string
}

type stampedFields struct {
	At   time.Time
	Name string
}

func (s stamped) MarshalJSON() ([]byte, error) { return json.Marshal(stampedFields{s.Time, s.Name}) }

func (s *stamped) UnmarshalJSON(b []byte) error {
	var f stampedFields
	err := json.Unmarshal(b, &f)
	s.Time, s.Name = f.At, f.Name
	return err
}

func (s stamped) MarshalBinary() ([]byte, error) { return s.MarshalJSON() }

func (s stamped) AppendBinary(dst []byte) ([]byte, error) {
	b, err := s.MarshalJSON()
	return append(dst, b...), err
}

func (s *stamped) UnmarshalBinary(b []byte) error { return s.UnmarshalJSON(b) }

// own is a struct of the same kind without methods for bytes.
type own struct {
	netip.Addr
	Port uint16
}

func (o own) MarshalText() ([]byte, error) {
	return netip.AddrPortFrom(o.Addr, o.Port).MarshalText()
}

func (o *own) UnmarshalText(b []byte) error {
	var p netip.AddrPort
	err := p.UnmarshalText(b)
	o.Addr, o.Port = p.Addr(), p.Port()
	return err
}

type (
	base      struct{ ID int }
	otherBase struct{ ID int }
	onlyTime  struct{ time.Time }
	writeOnly struct{ N int }
	textOnly  int
	point     struct{ X, Y int }
	tree      struct{ *tree } //nolint:unused // its name alone matters
)

func (writeOnly) MarshalJSON() ([]byte, error) { return []byte(`"out"`), nil }

func (textOnly) MarshalText() ([]byte, error) { return []byte("out"), nil }

// A type of which JSON, or a method that is not its own, would leave something
// out is refused, with the name of what that is.
func TestDefaultRefusesWhatIsLost(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name func() (string, error)
		want string // part of the error; that there is none, if empty
	}{
		{nameOf[struct {
			time.Time
			Name string
		}], "from its embedded time.Time, which leaves the other fields out"},
		{nameOf[*struct {
			Name string
			netip.Addr
		}], "from its embedded netip.Addr"},
		{nameOf[struct {
			url.URL // has no methods for JSON
			Name    string
		}], "from its embedded url.URL"},
		{nameOf[[]struct {
			*big.Int
			Scale int
		}], "from its embedded *big.Int"},
		{nameOf[struct{ *big.Int }], "from its embedded *big.Int, which may be nil"},
		{nameOf[struct {
			onlyTime
			Name string
		}], "from its embedded codec_test.onlyTime"},
		{nameOf[struct {
			At struct {
				time.Time `json:"at"`
				Name      string
			}
		}], ".At has "},
		{nameOf[struct {
			base
			otherBase
		}], `.otherBase.ID has the name "ID" in JSON, as .base.ID has`},
		{nameOf[struct {
			base
			ID int
		}], `.ID has the name "ID" in JSON, as .base.ID has`},
		{nameOf[struct {
			A int `json:"B"`
			B int
		}], `.B has the name "B"`},
		{nameOf[struct {
			big.Rat
			big.Float // none of their methods is the struct's
		}], "is unexported"},
		{nameOf[tree], "is unexported"},
		{nameOf[writeOnly], "has MarshalJSON and no UnmarshalJSON"},
		{nameOf[[]textOnly], "has MarshalText and no UnmarshalText"},
		{nameOf[map[string]big.Int], "as *big.Int, which JSON does not use in a map"},
		{nameOf[map[point]int], "has keys of type codec_test.point"},
		{nameOf[map[bool]int], "has keys of type bool"},
		{nameOf[map[any]int], "has keys of type interface {}"},
		{nameOf[map[textOnly]int], "has keys of type codec_test.textOnly"},
		{nameOf[struct{ M map[float64]string }], ".M has keys of type float64"},

		{nameOf[stamped], ""},
		{nameOf[*stamped], ""},
		{nameOf[[]stamped], ""},
		{nameOf[struct{ S stamped }], ""},
		{nameOf[own], "from its embedded netip.Addr"}, // its bytes are the address's
		{nameOf[[]own], ""},
		{nameOf[onlyTime], ""},
		{nameOf[map[netip.Addr]*big.Int], ""},
		{nameOf[map[userID]label], ""},
		{nameOf[struct {
			A int `json:"-"`
			B int `json:"A"`
		}], ""},
		{nameOf[struct{ U *url.URL }], ""},
	} {
		name, err := c.name()
		if c.want == "" && err != nil {
			t.Errorf("got %v, want a codec", err)
		}
		if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("got %s, %v, want an error with %q", name, err, c.want)
		}
	}
	sameTag := reflect.PointerTo(reflect.StructOf([]reflect.StructField{
		{Name: "A", Type: reflect.TypeFor[int](), Tag: `json:"id"`}, {Name: "B", Type: reflect.TypeFor[int](), Tag: `json:"id,omitempty"`},
	}))
	if _, err := codec.EncoderOf(sameTag); err == nil || !strings.Contains(err.Error(), `.B has the name "id" in JSON, as .A has`) {
		t.Errorf("two fields with one tag: %v", err)
	}
}

// refusesValue expects that neither the Default of a type nor its Encoder takes a
// value.
func refusesValue[V any](t *testing.T, want string, v V) {
	t.Helper()
	c, encoder := defaultOf[V](t)
	_, err := c.Append(nil, v)
	_, errOfEncoder := encoder.Append(nil, v)
	for name, err := range map[string]error{"Default": err, "Encoder": errOfEncoder} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s of %#v: %v, want an error with %q", name, v, err, want)
		}
	}
	if _, err := codec.JSON[V]().Append(nil, v); err != nil {
		t.Errorf("JSONCodec does not take %#v: %v", v, err)
	}
}

type anything struct{ Any any }

// A value that JSON would change is refused, with the place where it is.
func TestDefaultRefusesValues(t *testing.T) {
	t.Parallel()
	refusesValue(t, ".Any is of type int in an interface", anything{1})
	refusesValue(t, ".Any is of type int64 in an interface", &anything{int64(1) << 60})
	refusesValue(t, `["a"][1] is of type uint8 in an interface`, map[string]any{"a": []any{1.0, byte(1)}})
	refusesValue(t, ".Any is of type time.Time in an interface", anything{time.Unix(0, 0)})
	refusesValue(t, ".Any is of type []string in an interface", anything{[]string{"a"}})
	refusesValue(t, ".Any is a nil map[string]interface {} in an interface", anything{map[string]any(nil)})
	refusesValue(t, "[0].Name is not UTF-8", []struct{ Name string }{{"\xff"}})
	refusesValue(t, ".Any is not UTF-8", anything{"a\xc0b"})
	refusesValue(t, "has a key that is not UTF-8", map[string]int{"\xff": 1})
	refusesValue(t, "is a pointer to nil", struct{ P **int }{new(*int)})
	refusesValue(t, "is a pointer to nil", struct{ P *[]int }{new([]int)})
	refusesValue(t, ".N is a json.Number without digits", struct{ N json.Number }{})
	refusesValue(t, ".U.User.username is unexported", struct{ U *url.URL }{&url.URL{User: url.User("ada")}})

	n := 7
	p := &n
	checkCodec(t, anything{}, anything{1.5}, anything{"text \ufffd"}, anything{true},
		anything{map[string]any{"a": []any{nil, "b", 1e300, []any{}}}})
	checkCodec(t, []string{"\ufffd", `\ufffd`, `\\ufffd`, "\u2028"})
	checkCodec(t, map[string]int{"\ufffd": 1})
	checkCodec(t, struct{ P **int }{&p}, struct{ P **int }{})
	checkCodec(t, struct{ U *url.URL }{&url.URL{Host: "example.org"}})
	checkCodec(t, stamped{time.Unix(1, 0).UTC(), "name"})
	checkCodec(t, []stamped{{time.Unix(1, 0).UTC(), "name"}})
}

// Whatever Default takes comes back as it was: structs of all kinds of
// fields, and all values of them.
func TestDefaultIsFaithful(t *testing.T) {
	t.Parallel()
	taken, refused := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		typ := drawType(rt, 3)
		holder := reflect.StructOf([]reflect.StructField{{Name: "V", Type: typ}})
		v := reflect.New(holder).Elem()
		drawValue(rt, v, 4)
		var written []byte
		encoder, err := codec.EncoderOf(holder) // Default knows no types that are made at run time
		if err == nil {
			written, err = encoder.Append(nil, v.Interface())
		}
		if err != nil {
			refused++
			return
		}
		taken++
		back := reflect.New(holder)
		if err := json.Unmarshal(written, back.Interface()); err != nil {
			rt.Fatalf("%v: stored as %q: %v", holder, written, err)
		}
		if !reflect.DeepEqual(v.Interface(), back.Elem().Interface()) {
			rt.Fatalf("%v:\nstored %s\ngot  %#v\nwant %#v", holder, written, back.Elem(), v)
		}
	})
	if taken == 0 || refused == 0 {
		t.Errorf("%d values were taken and %d refused: the test shows nothing", taken, refused)
	}
}

// drawType makes a type of those that EncoderOf may take or refuse.
func drawType(t *rapid.T, depth int) reflect.Type {
	leaves := []reflect.Type{
		reflect.TypeFor[int](), reflect.TypeFor[int64](), reflect.TypeFor[uint8](), reflect.TypeFor[float64](), reflect.TypeFor[float32](),
		reflect.TypeFor[bool](), reflect.TypeFor[string](), reflect.TypeFor[label](), reflect.TypeFor[any](), reflect.TypeFor[[]byte](),
		reflect.TypeFor[digest](), reflect.TypeFor[json.Number](), reflect.TypeFor[big.Int](), reflect.TypeFor[stamped](),
		reflect.TypeFor[point](), reflect.TypeFor[writeOnly](), reflect.TypeFor[anything](), reflect.TypeFor[base](),
		reflect.TypeFor[struct {
			time.Time
			Name string
		}](),
	}
	kind := 0
	if depth > 0 {
		kind = rapid.IntRange(0, 5).Draw(t, "kind")
	}
	switch kind {
	case 1:
		return reflect.PointerTo(drawType(t, depth-1))
	case 2:
		return reflect.SliceOf(drawType(t, depth-1))
	case 3:
		return reflect.ArrayOf(2, drawType(t, depth-1))
	case 4:
		keys := []reflect.Type{reflect.TypeFor[string](), reflect.TypeFor[userID](), reflect.TypeFor[point](), reflect.TypeFor[label]()}
		return reflect.MapOf(rapid.SampledFrom(keys).Draw(t, "key"), drawType(t, depth-1))
	case 5:
		var fields []reflect.StructField
		tags := []reflect.StructTag{"", `json:"a"`, `json:"B"`, `json:",string"`, `json:"é\"x"`}
		for i := range rapid.IntRange(0, 3).Draw(t, "fields") {
			fields = append(fields, reflect.StructField{Name: string(rune('A' + i)), Type: drawType(t, depth-1),
				Tag: rapid.SampledFrom(tags).Draw(t, "tag")})
		}
		return reflect.StructOf(fields)
	}
	return rapid.SampledFrom(leaves).Draw(t, "leaf")
}

// drawValue fills v.
func drawValue(t *rapid.T, v reflect.Value, depth int) {
	switch x := v.Addr().Interface().(type) {
	case *big.Int:
		x.SetInt64(rapid.Int64().Draw(t, "big"))
		return
	case *stamped:
		x.Name = "n"
		return
	case *json.Number:
		*x = json.Number(rapid.SampledFrom([]string{"", "1", "1e5"}).Draw(t, "number"))
		return
	case *any:
		*x = rapid.SampledFrom([]any{nil, 1, 1.5, "s", "\xff", []any{1.0}, map[string]any{"a": 7}, map[string]any(nil), int64(1)}).Draw(t, "any")
		return
	}
	switch v.Kind() {
	case reflect.Int, reflect.Int64, reflect.Int32:
		v.SetInt(rapid.Int64().Draw(t, "int") >> 33)
	case reflect.Uint8:
		v.SetUint(uint64(rapid.Uint8().Draw(t, "byte")))
	case reflect.Float64, reflect.Float32:
		v.SetFloat(float64(rapid.Float32Range(-1e30, 1e30).Draw(t, "float")))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "bool"))
	case reflect.String:
		v.SetString(rapid.SampledFrom([]string{"", "text", "é\ufffd", "\xff", `\ufffd`, "<&>"}).Draw(t, "string"))
	case reflect.Pointer:
		if depth > 0 && rapid.Bool().Draw(t, "not nil") {
			v.Set(reflect.New(v.Type().Elem()))
			drawValue(t, v.Elem(), depth-1)
		}
	case reflect.Slice:
		if n := rapid.IntRange(-1, 2).Draw(t, "length"); n >= 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			for i := range n {
				drawValue(t, v.Index(i), depth-1)
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			drawValue(t, v.Index(i), depth-1)
		}
	case reflect.Map:
		if n := rapid.IntRange(-1, 2).Draw(t, "length"); n >= 0 {
			v.Set(reflect.MakeMap(v.Type()))
			for range n {
				key, elem := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
				drawValue(t, key, depth-1)
				drawValue(t, elem, depth-1)
				v.SetMapIndex(key, elem)
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				drawValue(t, v.Field(i), depth-1)
			}
		}
	default:
		panic(fmt.Sprint("no value of ", v.Type()))
	}
}
