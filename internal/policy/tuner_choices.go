package policy

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
