package ram

// walk is the way through the records that lie in one segment at least in part, a step at a
// time. It ends when the segment is released, which others may do between two steps.
type walk struct {
	id uint32 // the segment; 0: the walk has ended
	at uint32 // where the next record starts; 0 before the first step, which also takes the record that continues into the segment

	earliest, latest int64 // between which the records that were noted meanwhile are past their grace; 0 for none
	next             *walk // another one in the shard
}

// note counts a record in that is past its grace by end.
func (w *walk) note(end int64) {
	if w.earliest == 0 || end < w.earliest {
		w.earliest = end
	}
	w.latest = max(w.latest, end)
}

// A loop through many records holds a shard's lock for one step at a time, and releases it
// between two steps. All that is done in one hold counts, so that no two things
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

// walkBatch holds the records that are looked up together, so that their index
// buckets are loaded while the keys of the others are hashed.
type walkBatch struct {
	n      int
	entry  entry // the one that is being looked at; here, it needs no allocation
	recs   [stepRecords]stored
	hashes [stepRecords]uint64
}
