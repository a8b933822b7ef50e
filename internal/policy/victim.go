package policy

import "fmt"

// Lane names a queue of records.
type Lane uint8

const (
	Small Lane = iota // new records
	Main              // records that were read again
	None              // no lane: the record is evicted
)

// MaxFrequency is the largest frequency a record can have: two bits.
const MaxFrequency = 3

// Setting is one choice of the lanes' parameters.
type Setting struct {
	Share   float64 // of the lanes' bytes that Small keeps, above 0 and below 1
	Promote uint8   // frequency from which a record at Small's tail stays, at least 1
	Stay    bool    // such a record goes round in Small when Main has its share; otherwise it always moves to Main
}

// settings are the Tuner's choices; the first is the one to begin with.
var settings = [...]Setting{
	{Share: 0.05, Promote: 2},
	{Share: 0.02, Promote: 2},
	{Share: 0.20, Promote: 1, Stay: true},
	{Share: 0.80, Promote: 1, Stay: true},
}

// Victim is the lane whose tail gives space next, when the lanes hold so many
// bytes. The two must not both be empty.
func (p Setting) Victim(small, main int64) Lane {
	if small > 0 && float64(small) >= p.Share*float64(small+main) {
		return Small
	}
	return Main
}

// Next decides about a live record at its lane's tail: the lane it is copied
// to and its frequency there, or None if it is to be evicted. The bytes are
// those that the lanes hold.
func (p Setting) Next(lane Lane, frequency uint8, small, main int64) (Lane, uint8) {
	switch {
	case lane == Main && frequency > 0:
		return Main, frequency - 1
	case lane == Main || frequency < p.Promote:
		return None, 0
	case p.Stay && float64(small) <= p.Share*float64(small+main):
		return Small, 0
	default:
		return Main, 0
	}
}

// String says which share of the bytes Small keeps, and from how many reads on a record stays
// when it reaches the end of it: by a move to Main, or where it may by going round in Small.
func (p Setting) String() string {
	reads, how := "reads", "promote"
	if p.Promote == 1 {
		reads = "read"
	}
	if p.Stay {
		how = "stay or promote"
	}
	return fmt.Sprintf("small %.3g %%, %s at %d %s", 100*p.Share, how, p.Promote, reads)
}
