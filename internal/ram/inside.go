package ram

import "github.com/firncache/firn/internal/inside"

// Policy is the setting of the eviction policy, those to choose from, and why.
func (t *Tier) Policy() inside.Policy {
	list, current := t.tuner.Choices()
	p := inside.Policy{Current: current, Filling: !t.full.Load()}
	for _, c := range list {
		p.Settings = append(p.Settings, inside.Setting{Name: c.Setting.String(), Score: c.Score})
	}
	return p
}
