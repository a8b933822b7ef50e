package ram

// Whoever goes through many records holds a shard's lock for one step of it at a time, and
// then for a moment nobody does. All that is done in one hold counts, so that no two things
// that are short by themselves come together in one.

// work is what was done in one hold of a shard's lock.
type work struct {
	records int // records and segments that were looked at, hashed or given back: about a cache miss each
	bytes   int // that were copied
}

// A step ends with the record that makes it as many, or as many bytes.
const (
	stepRecords = 8
	stepBytes   = 8 << 10
)

// stepDone reports whether a step's work was done in this hold.
func (s *shard) stepDone() bool {
	return s.work.records >= s.tier.maxWalk || s.work.bytes >= stepBytes
}

// stepsMerges is how many steps' records a step may look at if removing records shrinks the
// index, which then hashes others.
const stepsMerges = 3

// stepExceeded reports whether the records that were found for a step are too much for it.
func (s *shard) stepExceeded() bool {
	return s.work.records >= stepsMerges*s.tier.maxWalk || s.work.bytes >= stepBytes
}
