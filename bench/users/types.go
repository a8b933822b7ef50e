package users

import (
	"encoding/binary"
	"errors"
	"math"
)

// The values of the object caches, and the codecs of a program that writes firn's by hand.

// A Session is a user's. Its data say whose it is.
type Session struct {
	User    uint64
	Expires int64
	Data    []byte
}

const sessionBytes = 48 // of the struct on the heap

func newSession(size int) func(n, version uint32) *Session {
	return func(n, version uint32) *Session {
		s := &Session{User: uint64(n), Expires: int64(version), Data: make([]byte, size)}
		fillValue(s.Data, n, version)
		return s
	}
}

func isSession(size int) func(s Session, n uint32) bool {
	return func(s Session, n uint32) bool { return s.User == uint64(n) && isValue(s.Data, n, size) }
}

var errShort = errors.New("value is too short")

type sessionCodec struct{}

func (sessionCodec) Name() string { return "session/1" }

func (sessionCodec) Append(dst []byte, s *Session) ([]byte, error) {
	dst = binary.LittleEndian.AppendUint64(dst, s.User)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(s.Expires))
	return append(dst, s.Data...), nil
}

func (sessionCodec) Decode(src []byte) (*Session, error) {
	if len(src) < 16 {
		return nil, errShort
	}
	return &Session{
		User: binary.LittleEndian.Uint64(src), Expires: int64(binary.LittleEndian.Uint64(src[8:])),
		Data: append(make([]byte, 0, len(src)-16), src[16:]...),
	}, nil
}

// Features are what a model wants to know of an entity.
type Features [16]float32

func newFeatures(n, version uint32) (f Features) {
	for i := range f {
		f[i] = float32(n) + float32(i)
	}
	f[1] = float32(version & 0xffff)
	return f
}

// isFeatures takes numbers that a float32 holds exactly.
func isFeatures(f Features, n uint32) bool {
	return f[0] == float32(n) && f[15] == float32(n)+15
}

// Metadata are those of a file.
type Metadata struct {
	Number, Version    uint32
	Size, Modified     int64
	Digest             [32]byte
	Name, Owner, Media string
}

const metadataBytes = 112 // of the struct on the heap

// media makes the bytes of a record add up to the 192 of the byte caches.
const media = "application/vnd.openxmlformats-officedocument.wordprocessingml.document;charset=utf-8;v=1.0"

func newMetadata(t *keyTable) func(n, version uint32) *Metadata {
	return func(n, version uint32) *Metadata {
		m := &Metadata{Number: n, Version: version, Size: int64(n) * 4096, Modified: int64(version), Name: t.text(n), Owner: "root", Media: media}
		binary.LittleEndian.PutUint32(m.Digest[:], n)
		return m
	}
}

func isMetadata(m Metadata, n uint32) bool {
	return m.Number == n && m.Size == int64(n)*4096 && number(m.Name) == n && binary.LittleEndian.Uint32(m.Digest[:]) == n && len(m.Media) == len(media)
}

type metadataCodec struct{}

// The numbers, the digest, and the lengths of the two first strings.
const metadataHead = 4 + 4 + 8 + 8 + 32 + 1 + 1

func (metadataCodec) Name() string { return "metadata/1" }

func (metadataCodec) Append(dst []byte, m *Metadata) ([]byte, error) {
	if len(m.Name) > math.MaxUint8 || len(m.Owner) > math.MaxUint8 {
		return dst, errors.New("name or owner is longer than 255 bytes")
	}
	dst = binary.LittleEndian.AppendUint32(dst, m.Number)
	dst = binary.LittleEndian.AppendUint32(dst, m.Version)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(m.Size))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(m.Modified))
	dst = append(dst, m.Digest[:]...)
	dst = append(dst, byte(len(m.Name)), byte(len(m.Owner)))
	dst = append(dst, m.Name...)
	dst = append(dst, m.Owner...)
	return append(dst, m.Media...), nil
}

// Decode makes one string of the three, which share its memory.
func (metadataCodec) Decode(src []byte) (*Metadata, error) {
	if len(src) < metadataHead {
		return nil, errShort
	}
	name, owner := int(src[metadataHead-2]), int(src[metadataHead-1])
	text := string(src[metadataHead:])
	if name+owner > len(text) {
		return nil, errShort
	}
	return &Metadata{
		Number: binary.LittleEndian.Uint32(src), Version: binary.LittleEndian.Uint32(src[4:]),
		Size: int64(binary.LittleEndian.Uint64(src[8:])), Modified: int64(binary.LittleEndian.Uint64(src[16:])),
		Digest: [32]byte(src[24:56]), Name: text[:name], Owner: text[name : name+owner], Media: text[name+owner:],
	}, nil
}
