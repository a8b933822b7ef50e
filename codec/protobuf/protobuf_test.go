package protobuf

import (
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/firncache/firn"
	"github.com/firncache/firn/codec/codectest"
)

func same[P proto.Message](a, b P) bool { return proto.Equal(a, b) }

func object(t testing.TB) *structpb.Struct {
	s, err := structpb.NewStruct(map[string]any{"a": 1.0, "b": []any{"x", nil, true}, "c": map[string]any{"d": "e"}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestProtobuf(t *testing.T) {
	codectest.Check(t, New[structpb.Struct](), same, object(t), &structpb.Struct{})
	codectest.Check(t, New[timestamppb.Timestamp](), same, &timestamppb.Timestamp{Seconds: 1, Nanos: 2})
	codectest.Check(t, New[wrapperspb.BytesValue](), same, wrapperspb.Bytes([]byte("bytes")))
}

func TestTyped(t *testing.T) {
	c, err := firn.Open(firn.Options{RAMBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	typed, err := firn.NewTyped(c, "n", firn.TypedOptions[string, *structpb.Struct]{Codec: New[structpb.Struct]()})
	if err != nil {
		t.Fatal(err)
	}
	if err := typed.Set("k", object(t)); err != nil {
		t.Fatal(err)
	}
	if v, ok := typed.Get("k"); !ok || !proto.Equal(v, object(t)) {
		t.Errorf("got %v, %v", v, ok)
	}
}

func FuzzProtobuf(f *testing.F) {
	codec := New[structpb.Struct]()
	b, err := codec.Append(nil, object(f))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, src []byte) {
		codectest.Fuzz(t, codec, src, 1000)
		codectest.Fuzz(t, New[descriptorpb.FileDescriptorProto](), src, 1000)
	})
}
