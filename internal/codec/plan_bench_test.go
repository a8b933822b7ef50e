package codec_test

import (
	"testing"

	"github.com/firncache/firn/internal/codec"
)

func BenchmarkDecode(b *testing.B) {
	type pair struct{ Name, Email string }
	b.Run("two strings", func(b *testing.B) { benchDecode(b, pair{"Ada Lovelace", "ada@example.org"}) })
	b.Run("vector", func(b *testing.B) { benchDecode(b, make([]float32, 1536)) })
	b.Run("bytes", func(b *testing.B) { benchDecode(b, make([]byte, 4*1536)) })
	b.Run("map", func(b *testing.B) { benchDecode(b, map[string]string{"a": "b", "c": "d", "e": "f"}) })
	b.Run("kinds", func(b *testing.B) { benchDecode(b, kindsSample()) })
}

func benchDecode[V any](b *testing.B, v V) {
	c, err := codec.Default[V]()
	if err != nil {
		b.Fatal(err)
	}
	src, err := c.Append(nil, v)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Decode(src); err != nil {
			b.Fatal(err)
		}
	}
}
