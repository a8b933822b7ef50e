package ram

import "slices"

// Values are the values of some keys in one buffer. Some of them may be missing. The
// zero Values are none.
type Values struct {
	Bytes []byte
	spans []span
}

// span is the place of one value in Bytes, and its deadline; end is -1 for a miss.
type span struct {
	start, end int
	deadline   int64
}

// Len is the number of keys.
func (v *Values) Len() int { return len(v.spans) }

// Value is the value of key i, and whether there is one.
func (v *Values) Value(i int) (value []byte, ok bool) {
	s := v.spans[i]
	if s.end < 0 {
		return nil, false
	}
	return v.Bytes[s.start:s.end:s.end], true
}

// Deadline is when the value of key i expires, 0 for never, or if that is not known.
func (v *Values) Deadline(i int) int64 { return v.spans[i].deadline }

// Put makes Bytes from start the value of key i.
func (v *Values) Put(i, start int, deadline int64) {
	v.spans[i] = span{start, len(v.Bytes), deadline}
}

// Trim takes n bytes off the end of the value of key i.
func (v *Values) Trim(i, n int) { v.spans[i].end -= n }

// Miss makes key i one without a value.
func (v *Values) Miss(i int) { v.spans[i] = span{end: -1} }

// End ends the value of the next key, which is Bytes from start; without
// ok there is none.
func (v *Values) End(start int, ok bool) {
	v.spans = append(v.spans, span{end: -1})
	if ok {
		v.Put(len(v.spans)-1, start, 0)
	}
}

// Reset makes them those of n keys that are all missing.
func (v *Values) Reset(n int) {
	v.Bytes, v.spans = v.Bytes[:0], v.spans[:0]
	for range n {
		v.End(0, false)
	}
}

// Batch has the results of a GetMulti, and its scratch space. The zero Batch is ready
// for use; used again, it allocates nothing once it is large enough.
type Batch struct {
	Values
	Hashes []uint64 // of the keys without a value; the others may be anything
	Misses int

	lookups lookups
}

// inFlight is how many lookups may be under way: a multiple of group, and at least group more than
// finishAfter.
const inFlight = 32

// lookups are those that are under way, that of key i at i modulo inFlight.
type lookups struct {
	bucket [inFlight]uint64 // where it lies
	record [inFlight]uint64 // where it lies, or notThere or unclear
	epoch  [inFlight]uint64 // of the shard, from before anything else was read
	shape  [inFlight]uint64 // of the index, likewise
	loc    [inFlight]uint32 // of the record
	slot   [inFlight]uint8  // in the bucket
	linked uint64           // a bit for each whose bucket is the second one, still to be searched
}

func (b *Batch) reset(n int) {
	b.Bytes, b.Misses, b.lookups.linked = b.Bytes[:0], 0, 0
	b.spans = slices.Grow(b.spans[:0], n)[:n]
	b.Hashes = slices.Grow(b.Hashes[:0], n)[:n]
}

func (b *Batch) miss(i int) {
	b.Misses++
	b.spans[i] = span{end: -1}
}
