package users

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/firncache/firn/bench/keys"
	"github.com/firncache/firn/internal/workload"
)

// line is how often a value says whose it is, and a reader looks: as often as a
// program that reads all of it fetches a cache line.
const line = 64

// step makes the lines of a value differ.
const step = 0x9E3779B97F4A7C15

// fillValue makes dst the value of entry n. Every line begins with the entry, the
// version and its own place. There is room for one line at least, or a number.
func fillValue(dst []byte, n, version uint32) {
	word := uint64(version)<<32 | uint64(n)
	for at := 0; at+8 <= len(dst); at += line {
		binary.LittleEndian.PutUint64(dst[at:], word)
		word += step
	}
}

// isValue reports whether v is a value of entry n, of any version, and whole. It
// reads every line, as a program that uses the value would.
func isValue(v []byte, n uint32, size int) bool {
	if len(v) != size || uint32(binary.LittleEndian.Uint64(v)) != n {
		return false
	}
	wrong := uint64(0)
	word := binary.LittleEndian.Uint64(v)
	for at := 0; at+8 <= len(v); at += line {
		wrong |= binary.LittleEndian.Uint64(v[at:]) ^ word
		word += step
	}
	return wrong == 0
}

// renderRounds takes about 50 µs on a processor of 2023: what a page of a
// template, from data at hand, costs at least. It is work, not time, so that it is
// the same for all.
const renderRounds = 30_000

// sink keeps the work of loaders from being optimised away: a value of none of
// them equals it.
const sink = 0x5bd1e995_0f0f0f0f

// render makes dst the page of entry n.
func render(dst []byte, n uint32, rounds int) {
	x := uint64(n) | 1
	for range rounds {
		x ^= x >> 29
		x *= step
	}
	version := uint32(1)
	if x == sink {
		version++
	}
	fillValue(dst, n, version)
}

// keyTable has the keys of all entries, one after the other, as text and as bytes.
type keyTable struct {
	all  string
	raw  []byte
	size int
}

// numberDigits end a key that is text: the entry's number, for loaders.
const numberDigits = 8

// newKeys lays out the keys of n entries: 8 bytes, or text of at least 16.
func newKeys(n, size int) keyTable {
	var b strings.Builder
	b.Grow(n * size)
	for i := range uint64(n) {
		if size == 8 {
			var raw [8]byte
			binary.LittleEndian.PutUint64(raw[:], workload.Scramble(i))
			b.Write(raw[:])
			continue
		}
		digits := fmt.Sprintf("%016x%016x", workload.Scramble(i), workload.Scramble(^i))
		fmt.Fprintf(&b, "%s%0*x", digits[:size-numberDigits], numberDigits, i)
	}
	return keyTable{b.String(), []byte(b.String()), size}
}

func (t *keyTable) text(n uint32) string { return t.all[int(n)*t.size : (int(n)+1)*t.size] }

func (t *keyTable) bytes(n uint32) []byte {
	from, to := int(n)*t.size, (int(n)+1)*t.size
	return t.raw[from:to:to]
}

func (t *keyTable) integer(n uint32) uint64 { return workload.Scramble(uint64(n)) }

// number is the entry of a key that is text.
func number[T string | []byte](key T) (n uint32) {
	for i := len(key) - numberDigits; i < len(key); i++ {
		digit := uint32(key[i] - '0')
		if digit > 9 {
			digit = uint32(key[i]-'a') + 10
		}
		n = n<<4 | digit
	}
	return n
}

// write marks an operation of a sequence that writes.
const write = 1 << 31

// sequenceLength is the number of entries that a goroutine takes before its
// sequence begins again.
const sequenceLength = 1 << 20

// newSequence lays out the entries that a goroutine takes, with those of one
// operation beside each other, and the mark of a write at the first of them.
func (w Workload) newSequence(length int, seed uint64) ([]uint32, error) {
	next, err := keys.Numbers(w.Order, uint64(w.Entries), seed)
	if err != nil {
		return nil, err
	}
	s := make([]uint32, length/w.Batch*w.Batch)
	for i := range s {
		s[i] = uint32(next())
		if i%w.Batch == 0 && w.WriteEvery > 0 && workload.Scramble(seed<<32|uint64(i))%uint64(w.WriteEvery) == 0 {
			s[i] |= write
		}
	}
	return s, nil
}
