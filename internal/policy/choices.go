package policy

import "fmt"

// Choice is a setting that a Tuner can choose, and how its shadow does.
type Choice struct {
	Setting Setting
	Score   float64 // hits of the shadow of late, as a share of the best shadow's: 0 to 1
}

// Choices are the settings to choose from, and the one that holds now. A cache without shadows
// has that one alone, without a score.
func (t *Tuner) Choices() (list []Choice, current int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := int(t.current.Load())
	if t.size == 0 {
		return []Choice{{Setting: settings[now]}}, 0
	}
	best := 0.0
	for _, s := range t.shadows {
		best = max(best, s.hits)
	}
	for _, s := range t.shadows {
		c := Choice{Setting: s.setting}
		if best > 0 {
			c.Score = s.hits / best
		}
		list = append(list, c)
	}
	return list, now
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
