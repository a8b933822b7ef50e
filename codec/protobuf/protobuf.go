// Package protobuf stores messages of Protocol Buffers, by
// google.golang.org/protobuf.
package protobuf

import (
	"google.golang.org/protobuf/proto"

	"github.com/firncache/firn"
)

// New makes a codec of pointers to messages: of *pb.User, for
//
//	firn.TypedOptions[string, *pb.User]{Codec: protobuf.New[pb.User]()}
//
// A nil pointer comes back as an empty message. Unknown fields are kept.
func New[M any, P Message[M]]() firn.Codec[P] { return codec[M, P]{} }

// Message is a pointer to a generated message type.
type Message[M any] interface {
	*M
	proto.Message
}

type codec[M any, P Message[M]] struct{}

func (codec[M, P]) Name() string { return "protobuf/1" }

func (codec[M, P]) Append(dst []byte, v P) ([]byte, error) {
	return proto.MarshalOptions{}.MarshalAppend(dst, v)
}

func (codec[M, P]) Decode(src []byte) (P, error) {
	v := P(new(M))
	if err := proto.Unmarshal(src, v); err != nil {
		return nil, err
	}
	return v, nil
}
