//go:build linux

package stress

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"
)

// checker judges what the processes tell, round by round.
type checker struct {
	bound  int64                  // in nanoseconds
	acked  [units][]ack           // in the order of their ends
	values [units]map[int64]int64 // when a value was acknowledged
	losses []record
	best   [processes][]int64 // the newest value that a process has found of a key

	reads, misses, writes, failed int64
	violations                    []string
	history                       []record // of this round
}

// ack is an acknowledged write, or several: newest is the newest value up to its end.
type ack struct{ to, newest int64 }

func newChecker(bound int64) *checker {
	c := &checker{bound: bound}
	for i := range c.values {
		c.values[i] = map[int64]int64{}
	}
	for i := range c.best {
		c.best[i] = make([]int64, allKeys)
	}
	return c
}

// born forgets what a process has found, which is another one now.
func (c *checker) born(process int) { clear(c.best[process]) }

// round judges the records of one round; records of earlier ones were judged.
func (c *checker) round(records []record) {
	c.history = records
	c.startCounting()
	var reads [processes][]record
	for _, r := range records {
		switch r.Kind {
		case kindWrite:
			c.write(r)
		case kindRead:
			reads[r.Process] = append(reads[r.Process], r)
		case kindMiss:
			c.misses++
		case kindFailed:
			c.failed++
		}
	}
	c.sortWrites()
	for p, reads := range reads {
		c.reads += int64(len(reads))
		for _, r := range reads {
			c.read(r)
		}
		c.forward(p, reads)
	}
}

// startCounting forgets the keys that are counted, which are others in each round.
func (c *checker) startCounting() {
	for key := firstCount; key < allKeys; key++ {
		c.acked[key], c.values[key] = nil, map[int64]int64{}
		for _, best := range c.best {
			best[key] = 0
		}
	}
}

func (c *checker) write(r record) {
	c.writes++
	if r.Op == opLoss {
		c.losses = append(c.losses, r)
		return
	}
	u := unitOf(r.Key)
	c.acked[u] = append(c.acked[u], ack{r.To, r.Value})
	c.values[u][r.Value] = r.To
}

// sortWrites puts what was acknowledged in its order, with the newest value so far.
func (c *checker) sortWrites() {
	for u, acks := range c.acked {
		slices.SortFunc(acks, func(a, b ack) int { return cmp.Compare(a.to, b.to) })
		for i := 1; i < len(acks); i++ {
			acks[i].newest = max(acks[i].newest, acks[i-1].newest)
		}
		c.acked[u] = acks
	}
}

// floor is the newest value of a unit that was acknowledged by a time.
func (c *checker) floor(unit uint32, at int64) int64 {
	acks := c.acked[unit]
	i := sort.Search(len(acks), func(i int) bool { return acks[i].to > at })
	if i == 0 {
		return 0
	}
	return acks[i-1].newest
}

// read judges one value: it is at least as new as the bound asks for, it has begun to be
// written, and it was not lost before.
func (c *checker) read(r record) {
	unit := unitOf(r.Key)
	since := r.From - c.bound
	acked, known := c.values[unit][r.Value]
	switch floor := c.floor(unit, since); {
	case r.Value < floor && (known || isLoaded(r.Key)) && !c.beganBeforeLoss(r, acked):
		c.violated(r, "want at least %d", floor)
	case r.Value > r.To+1e6 && r.Key < firstCount:
		c.violated(r, "of the future")
	case known && !isLoaded(r.Key):
		for _, l := range c.losses {
			if acked <= l.From && l.To <= since {
				c.violated(r, "the server has lost it: %v", l)
			}
		}
	}
}

// beganBeforeLoss reports whether a value of a Compute was chosen before a loss and written
// after it: it may be older than what was lost.
func (c *checker) beganBeforeLoss(r record, acked int64) bool {
	return r.Key >= firstCompute && r.Key < firstLoad && slices.ContainsFunc(c.losses, func(l record) bool {
		return r.Value < l.To && acked > l.From
	})
}

// forward judges that a process never finds a value and then, in a read that begins later,
// an older one. Values whose write failed may come late; the source's are known to those
// who load them before they are to others.
func (c *checker) forward(process int, reads []record) {
	byEnd := slices.SortedFunc(slices.Values(reads), func(a, b record) int { return cmp.Compare(a.To, b.To) })
	slices.SortFunc(reads, func(a, b record) int { return cmp.Compare(a.From, b.From) })
	best, ended := c.best[process], 0
	for _, r := range reads {
		for ; ended < len(byEnd) && byEnd[ended].To <= r.From; ended++ {
			e := byEnd[ended]
			best[e.Key] = max(best[e.Key], e.Value)
		}
		if _, known := c.values[unitOf(r.Key)][r.Value]; known && r.Value < best[r.Key] && !isLoaded(r.Key) {
			c.violated(r, "backwards: this process had found %d", best[r.Key])
		}
	}
	for _, e := range byEnd[ended:] {
		best[e.Key] = max(best[e.Key], e.Value)
	}
}

// settled judges what the processes find when nobody is at work: what the server has.
func (c *checker) settled(records []record) {
	server := map[uint32]record{}
	for _, r := range records {
		if r.Kind != kindShared {
			continue
		}
		if other, ok := server[r.Key]; ok && other.Value != r.Value {
			c.violated(r, "with nobody at work, process %d found %d on the server", other.Process, other.Value)
		}
		server[r.Key] = r
	}
	for _, r := range records {
		if r.Kind == kindLocal && server[r.Key].Value != r.Value {
			c.violated(r, "with nobody at work, the server has %d", server[r.Key].Value)
		}
	}
}

// most is how many violations are told.
const most = 5

func (c *checker) violated(r record, format string, args ...any) {
	if len(c.violations) >= most {
		c.violations = append(c.violations, "")
		return
	}
	var text strings.Builder
	fmt.Fprintf(&text, "key %d: %v: %s", r.Key, r, fmt.Sprintf(format, args...))
	for _, h := range c.around(r) {
		fmt.Fprintf(&text, "\n\t%v", h)
	}
	c.violations = append(c.violations, text.String())
}

// around is the history of a key, of this round, up to a record: the last of it.
func (c *checker) around(r record) []record {
	var all []record
	for _, h := range c.history {
		if unitOf(h.Key) == unitOf(r.Key) && h.From <= r.To && h.Kind <= kindFailed && (h.Kind != kindRead || h.Key == r.Key) {
			all = append(all, h)
		}
	}
	slices.SortFunc(all, func(a, b record) int { return cmp.Compare(a.To, b.To) })
	return all[max(0, len(all)-40):]
}
