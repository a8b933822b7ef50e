package firn

import (
	"encoding/binary"
	"errors"
	"reflect"
	"sync"

	"github.com/firncache/firn/internal/codec"
)

// dynamic is what SetValue knows of a type.
type dynamic struct {
	name    string
	head    []byte // stands before the bytes
	encoder *codec.Encoder
}

var dynamics sync.Map // reflect.Type → *dynamic

func dynamicOf(t reflect.Type) (*dynamic, error) {
	if t == nil {
		return nil, errors.New("nil has no type")
	}
	if known, ok := dynamics.Load(t); ok {
		return known.(*dynamic), nil
	}
	encoder, err := codec.EncoderOf(t)
	if err != nil {
		return nil, err
	}
	d := &dynamic{name: codec.TypeName(t), encoder: encoder}
	head := binary.AppendUvarint(valueFormat.Append(nil), uint64(len(d.name)))
	d.head = codec.FingerprintOf(encoder.Name(), codec.Layout(t)).Append(append(head, d.name...))
	dynamics.Store(t, d)
	return d, nil
}
