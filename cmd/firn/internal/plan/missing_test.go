package plan_test

import (
	"testing"

	"github.com/firncache/firn/cmd/firn/internal/plan"
)

// What is said to be enough is, and a little less is not.
func TestMissing(t *testing.T) {
	for what, q := range map[string]plan.Question{
		"RAM for the hot data":     {Entries: 1e6, Value: 100, RAM: 16 << 20},
		"SSD for all the data":     {Entries: 1e6, Value: 1000, RAM: 512 << 20, SSD: 256 << 20},
		"RAM for the index":        {Entries: 1e7, Value: 100, RAM: 64 << 20, SSD: 4 << 30},
		"a segment for the record": {Entries: 1000, Value: 300 << 10, RAM: 16 << 20, SSD: 1 << 30, Segment: 64 << 10},
	} {
		q.Key, q.Popularity = keyBytes, plan.Popularity{Hot: .2, HotReads: .8}
		m := missing(t, &q, what)
		if m == nil || m.Least == 0 || m.Need <= m.Have {
			t.Errorf("%s: not missing, or not by much: %+v", what, m)
			continue
		}
		budget := map[string]*int64{"ram": &q.RAM, "ssd": &q.SSD, "segment": &q.Segment}[m.Flag]
		if *budget = m.Least; missing(t, &q, what) != nil {
			t.Errorf("%s: still missing with %d", what, m.Least)
		}
		if m.Flag == "segment" {
			*budget /= 2
		} else {
			*budget -= *budget / 20
		}
		if missing(t, &q, what) == nil {
			t.Errorf("%s: not missing with %d, and %d was said to be the least", what, *budget, m.Least)
		}
	}
}

// missing is what a plan says about a need, nil if it is met.
func missing(t *testing.T, q *plan.Question, what string) *plan.Missing {
	t.Helper()
	for _, m := range compute(t, q).Missing {
		if m.What == what {
			return &m
		}
	}
	return nil
}
