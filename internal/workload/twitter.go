package workload

import (
	"bytes"
	"fmt"
	"math"
)

// twitterParser parses the traces of Twitter's cache clusters (Yang, Yue and
// Rashmi, OSDI 2020): timestamp, key, key size, value size, client, operation,
// TTL. Keys may contain commas, so fields are counted from both ends.
//
// get and gets are reads; a delete is skipped; every other operation writes the
// value, with its TTL. A value size of 0 (reads that missed) is unknown.
type twitterParser struct {
	clock clock
}

const twitterFields = 7

func (p *twitterParser) parse(line []byte) (Request, uint64, error) {
	if len(line) == 0 {
		return Request{}, 0, nil
	}
	if n := bytes.Count(line, []byte(",")) + 1; n < twitterFields {
		return Request{}, 0, fmt.Errorf("expected %d fields (timestamp, key, key size, value size, client, operation, TTL), found %d", twitterFields, n)
	}
	timestamp, rest, _ := bytes.Cut(line, []byte(","))
	rest, ttl := cutLast(rest)
	rest, op := cutLast(rest)
	rest, _ = cutLast(rest) // client
	rest, valueSize := cutLast(rest)
	key, _ := cutLast(rest) // without the key's size

	read, skip, err := operation(op)
	if err != nil || skip {
		return Request{}, 0, err
	}
	r := Request{Key: hashBytes(key), Write: !read}
	if r.Time, err = p.clock.parse(timestamp); err != nil {
		return Request{}, 0, err
	}
	size, err := parseUint("value size", valueSize, math.MaxUint32)
	if err != nil {
		return Request{}, 0, err
	}
	seconds, err := parseUint("TTL", ttl, math.MaxUint32)
	if err != nil {
		return Request{}, 0, err
	}
	r.Size, r.TTL = uint32(size), uint32(seconds)
	return r, 1, nil
}

// operation tells the meaning of an operation of memcached to a cache.
func operation(op []byte) (read, skip bool, err error) {
	switch string(op) {
	case "get", "gets":
		return true, false, nil
	case "set", "add", "replace", "cas", "append", "prepend", "incr", "decr":
		return false, false, nil
	case "delete":
		return false, true, nil
	}
	return false, false, fmt.Errorf("operation: expected one of memcached's (get, set, ...), found %s", quote(op))
}

// cutLast splits b at its last comma.
func cutLast(b []byte) (before, last []byte) {
	i := bytes.LastIndexByte(b, ',')
	return b[:max(i, 0)], b[i+1:]
}

// clock turns timestamps of any origin into seconds since the first of them.
// Those before the first count as the first.
type clock struct {
	started bool
	first   uint64
}

func (c *clock) parse(field []byte) (uint32, error) {
	whole, _, _ := bytes.Cut(field, []byte("."))
	t, err := parseUint("time", whole, math.MaxUint64)
	if err != nil {
		return 0, err
	}
	if !c.started {
		c.started, c.first = true, t
	}
	if t < c.first {
		return 0, nil
	}
	return uint32(min(t-c.first, math.MaxUint32)), nil
}
