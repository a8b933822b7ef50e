package typed

import (
	"reflect"
	"strings"
	"testing"
)

// What a writer of a type writes, the reader of the same type knows as its own.
func TestWriterAndReader(t *testing.T) {
	w, err := WriterOf(reflect.TypeFor[name]())
	if err != nil {
		t.Fatal(err)
	}
	r, err := ReaderOf[name]()
	if err != nil {
		t.Fatal(err)
	}
	other, err := ReaderOf[string]()
	if err != nil {
		t.Fatal(err)
	}
	dst, err := w.Append([]byte("before "), name("text"))
	if err != nil {
		t.Fatal(err)
	}
	stored, _ := strings.CutPrefix(string(dst), "before ")
	of, f, payload, ok := CutHeader([]byte(stored))
	if !ok || string(of) != r.Name || f != r.Fingerprint || string(payload) != "text" {
		t.Errorf("got %q, %v, %q, %v, want %q, %v, text", of, f, payload, ok, r.Name, r.Fingerprint)
	}
	if other.Name == r.Name || other.Fingerprint == r.Fingerprint {
		t.Error("a string is known as a name")
	}
	for n := range len(stored) - len(payload) {
		if _, _, _, ok := CutHeader([]byte(stored[:n])); ok {
			t.Errorf("a header of %d bytes was cut off %d", len(stored)-len(payload), n)
		}
	}
	if again, err := WriterOf(reflect.TypeFor[name]()); again != w || err != nil {
		t.Errorf("the second writer is %v, %v, want the first", again, err)
	}
}

func TestWriterAndReaderOfNoCodec(t *testing.T) {
	if _, err := WriterOf(nil); err == nil {
		t.Error("nil has a writer")
	}
	if _, err := WriterOf(reflect.TypeFor[chan int]()); err == nil {
		t.Error("a channel has a writer")
	}
	if _, err := ReaderOf[chan int](); err == nil {
		t.Error("a channel has a reader")
	}
}
