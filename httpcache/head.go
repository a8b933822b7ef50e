package httpcache

import (
	"bytes"
	"encoding/binary"
	"errors"
	"net/http"
	"time"
)

// bodyID names what one writer has written: the chunks of one body, or one list of the fields
// that a URL's responses vary by. It is random, so that no two writers have the same.
type bodyID [16]byte

// head is a stored response without its chunks. Or it is the list of fields that the
// responses of a URL vary by, which are stored elsewhere: then fields is that list.
type head struct {
	status int
	born   time.Time // when it was of age 0
	policy policy
	size   int64 // of the body
	chunk  int64 // bytes of each of its chunks but the last; 0: the body is inline
	id     bodyID
	fields []string    // that responses vary by; nil in a response
	lines  headerLines // of a response
	inline []byte
}

// headerLines are the fields of a header, as they are stored: of each line the length of its
// name, the name, the length of its value and the value.
type headerLines struct {
	text  string
	count int
}

// linesOf encodes a header.
func linesOf(h http.Header) headerLines {
	var b []byte
	count := 0
	for name, values := range h {
		for _, value := range values {
			b = appendString(appendString(b, name), value)
			count++
		}
	}
	return headerLines{string(b), count}
}

// with are the lines and one more.
func (l headerLines) with(name, value string) headerLines {
	return headerLines{l.text + string(appendString(appendString(nil, name), value)), l.count + 1}
}

// appendTo adds the lines to a header.
func (l headerLines) appendTo(h http.Header) {
	values := make([]string, 0, l.count) // one allocation for all fields of one line
	for text := l.text; text != ""; {
		var name, value string
		name, text = cutString(text)
		value, text = cutString(text)
		if before := h[name]; before != nil {
			h[name] = append(before[:len(before):len(before)], value)
			continue
		}
		values = append(values, value)
		h[name] = values[len(values)-1 : len(values) : len(values)]
	}
}

// header is the header that the lines encode.
func (l headerLines) header() http.Header {
	h := make(http.Header, l.count+4)
	l.appendTo(h)
	return h
}

// get is the first value of a field, without making a header.
func (l headerLines) get(field string) string {
	for text := l.text; text != ""; {
		var name, value string
		name, text = cutString(text)
		value, text = cutString(text)
		if name == field {
			return value
		}
	}
	return ""
}

// age is how old the response is.
func (h *head) age(now time.Time) time.Duration { return max(now.Sub(h.born), 0) }

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// cutString takes a string off the front; where there is none, all.
func cutString(text string) (s, rest string) {
	length, shift := uint64(0), 0
	for i := 0; i < len(text) && shift < 63; i++ {
		length |= uint64(text[i]&0x7f) << shift
		if shift += 7; text[i] < 0x80 {
			if text = text[i+1:]; length > uint64(len(text)) {
				return "", ""
			}
			return text[:length], text[length:]
		}
	}
	return "", ""
}

// The flags of a stored head.
const (
	flagFields = 1 << iota
	flagAlways
	flagStrict
	flagImmutable
	flagHeuristic
)

// fixedBytes are what a stored head has before its lines.
const fixedBytes = 1 + 2 + 8*6 + len(bodyID{}) + 4 + 4

// headCodec is the codec of heads.
type headCodec struct{}

func (headCodec) Name() string { return "httpcache/1" }

func (headCodec) Append(b []byte, h *head) ([]byte, error) {
	lines := h.lines
	flags := byte(0)
	if h.fields != nil {
		flags = flagFields
		var list []byte
		for _, name := range h.fields {
			list = appendString(list, name)
		}
		lines = headerLines{string(list), len(h.fields)}
	}
	for bit, set := range map[byte]bool{flagAlways: h.policy.always, flagStrict: h.policy.strict, flagImmutable: h.policy.immutable, flagHeuristic: h.policy.heuristic} {
		if set {
			flags |= bit
		}
	}
	b = append(b, flags)
	b = binary.LittleEndian.AppendUint16(b, uint16(h.status))
	for _, n := range []int64{h.born.UnixMilli(), h.policy.lifetime.Milliseconds(), h.policy.whileRevalidating.Milliseconds(), h.policy.ifError.Milliseconds(), h.size, h.chunk} {
		b = binary.LittleEndian.AppendUint64(b, uint64(n))
	}
	b = append(b, h.id[:]...)
	b = binary.LittleEndian.AppendUint32(b, uint32(lines.count))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(lines.text)))
	return append(append(b, lines.text...), h.inline...), nil
}

var errHead = errors.New("httpcache: not a stored response")

func (headCodec) Decode(src []byte) (*head, error) {
	if len(src) < fixedBytes {
		return nil, errHead
	}
	h := new(head)
	flags := src[0]
	h.status = int(binary.LittleEndian.Uint16(src[1:]))
	var n [6]int64
	for i := range n {
		n[i] = int64(binary.LittleEndian.Uint64(src[3+8*i:]))
	}
	h.born = time.UnixMilli(n[0])
	h.policy = policy{
		store: true, heuristic: flags&flagHeuristic != 0,
		always: flags&flagAlways != 0, strict: flags&flagStrict != 0, immutable: flags&flagImmutable != 0,
		lifetime: millis(n[1]), whileRevalidating: millis(n[2]), ifError: millis(n[3]),
	}
	h.size, h.chunk = n[4], n[5]
	rest := src[3+8*len(n):]
	rest = rest[copy(h.id[:], rest):]
	h.lines.count = int(binary.LittleEndian.Uint32(rest))
	length := int(binary.LittleEndian.Uint32(rest[4:]))
	if rest = rest[8:]; length > len(rest) || h.lines.count > length {
		return nil, errHead
	}
	h.lines.text = string(rest[:length])
	if h.inline = bytes.Clone(rest[length:]); h.chunk == 0 && int64(len(h.inline)) != h.size || h.chunk < 0 || h.size < 0 {
		return nil, errHead
	}
	if flags&flagFields != 0 {
		h.fields = make([]string, 0, h.lines.count)
		for text := h.lines.text; text != ""; {
			var name string
			name, text = cutString(text)
			h.fields = append(h.fields, name)
		}
	}
	return h, nil
}

func millis(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
