package whatif

import "github.com/firncache/firn/internal/policy"

// size is a cache of another size: miniature caches, each with a part of the sample.
type size struct {
	factor float64
	pieces [pieces]cache
	lanes  *columns
	warm   bool    // it is full, or has seen nearly everything: what it misses is no beginner's misses
	events float64 // of its sample, since it began to fill
	since  int     // the first window in which it was warm

	tallies tallies

	largest        int64   // bytes of a record: larger ones are not stored
	inserted, took float64 // bytes of records that came in of late, and of the capacity that these took
}

const (
	pieces = 4 // miniature caches of a size
	tuners = 2 // of a size: one for two pieces
)

// columns are what the pieces of a size know of each key.
type columns struct {
	deadlines deadlines // not the table's: a larger cache would not have loaded again what it had
	stamps    []uint16  // the ghosts' clock when it came into its lane: see cache.stamp
	next      []uint16  // towards the newer end of its lane
	state     []uint8   // its frequency, inMain and again
}

// init makes a size over the keys of a table.
func (z *size) init(t *table, chosen *policy.Setting, bit uint8, factor, ofLargest float64, tunerKeys int) {
	n := t.room()
	z.factor = factor
	z.lanes = &columns{deadlines: newDeadlines(n+1, t.deadlines != nil), stamps: make([]uint16, n+1), next: make([]uint16, n+1), state: make([]uint8, n+1)}
	for p := range z.pieces {
		z.pieces[p].init(t, z.lanes, chosen, bit, int(float64(n)*ofLargest/pieces))
	}
	for p := 0; tunerKeys > 0 && p < pieces; p += 2 {
		pair(&z.pieces[p], &z.pieces[p+1], tunerKeys)
	}
}

// bytesTaken is the memory that it takes.
func (z *size) bytesTaken() (n int) {
	for p := range z.pieces {
		n += 8 * len(z.pieces[p].memory)
		if t := z.pieces[p].tuner; t != untuned {
			n += int(tunerBytes(t)) / (pieces / tuners)
		}
	}
	return n + sizeBytes + len(z.lanes.next)*laneKeyBytes + len(z.lanes.deadlines)*deadlineBytes
}

func (z *size) entries() (n int64) {
	for p := range z.pieces {
		n += z.pieces[p].entries()
	}
	return n
}

// insert makes a key live in a piece, if that stores records so large.
func (z *size) insert(piece int, i uint16, deadline uint32, now int64) bool {
	c := &z.pieces[piece]
	size := int64(c.table.sizes[i])
	if size > z.largest {
		return false
	}
	c.insert(i, deadline, now)
	z.inserted += float64(size)
	z.took += float64(c.sizeOf(i))
	return true
}

// setBytes says how many bytes a cache of this size has, and how many keys more than its rate says each
// piece of the sample has.
func (z *size) setBytes(bytes float64, share float64, excess *[pieces]float64, now int64) {
	z.largest = int64(bytes / largestRecord)
	capacity := bytes * share / pieces
	most := int64(capacity / leastRecords)
	capacity *= 1 - z.heavy()
	if z.inserted > heavyLife*bytes*share {
		z.inserted, z.took = z.inserted/2, z.took/2
	}
	for p := range z.pieces {
		z.pieces[p].setCapacity(int64(capacity*excess[p]), most, now)
	}
}

// heavy is the share of the bytes that records take beyond what counts of them.
func (z *size) heavy() float64 {
	if z.inserted == 0 {
		return 0
	}
	return 1 - z.took/z.inserted
}

const (
	largestRecord = 4  // a record has at most a part of the bytes
	heavyLife     = 16 // after so many times its bytes what came in weighs half
	// leastRecords is how many records have room in a piece: with one huge record more or less it
	// would stand for another cache. What they are cut by is taken from the capacity.
	leastRecords = 32
)

// full reports whether most pieces have evicted something.
func (z *size) full() bool {
	n := 0
	for p := range z.pieces {
		if !z.pieces[p].filling {
			n++
		}
	}
	return 2*n > pieces
}

// flow is the share, 0 to 1, of what has to flow through before the size is warm.
func (z *size) flow() float64 {
	if z.warm {
		return 1
	}
	bytes, capacity := 0.0, 0.0
	for p := range z.pieces {
		bytes += float64(z.pieces[p].bytes())
		capacity += float64(z.pieces[p].capacity)
	}
	seen := z.events / (seenAll * float64(max(z.entries(), fewKeys)))
	if capacity > 0 {
		seen = max(seen, bytes/capacity/roomyFull)
	}
	return min(seen, 1)
}

const (
	// seenAll is how many reads for each of its keys a cache that is not full has had when nearly
	// nothing is new to it any more.
	seenAll = 8
	// roomyFull is how full a cache is that evicts: the last record did not fit.
	roomyFull = 0.98
	// fewKeys is how many keys a miniature cache needs for a figure.
	fewKeys = 100
)

// restart has a size fill again: what it has is not what a cache of its size would have.
func (z *size) restart() {
	z.warm, z.events = false, 0
	for p := range z.pieces {
		z.pieces[p].filling = true
	}
}
