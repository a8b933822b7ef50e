//go:build linux

package stress

import "testing"

// The checker finds each kind of violation, and nothing where there is none.
func TestChecker(t *testing.T) {
	const bound, key, loaded = 100, 7, firstLoad
	wrote := func(value, from, to int64) record {
		return record{Kind: kindWrite, Op: opSet, Key: key, Value: value, From: from, To: to}
	}
	read := func(process uint8, value, from, to int64) record {
		return record{Kind: kindRead, Op: opGet, Process: process, Key: key, Value: value, From: from, To: to}
	}
	of := func(r record, key uint32) record { r.Key = key; return r }
	for name, c := range map[string]struct {
		records []record
		want    int
	}{
		"fresh":                     {[]record{wrote(10, 10, 20), read(0, 10, 30, 31), wrote(40, 40, 50), read(0, 40, 60, 61)}, 0},
		"old within the bound":      {[]record{wrote(10, 10, 20), wrote(40, 40, 50), read(0, 10, 149, 151)}, 0},
		"old beyond the bound":      {[]record{wrote(10, 10, 20), wrote(40, 40, 50), read(0, 10, 150, 151)}, 1},
		"deleted":                   {[]record{wrote(10, 10, 20), of(wrote(40, 40, 50), key), read(1, 10, 151, 152)}, 1},
		"an unknown outcome, late":  {[]record{wrote(40, 40, 50), read(0, 10, 200, 201)}, 0},
		"backwards":                 {[]record{wrote(10, 10, 20), wrote(40, 40, 50), read(0, 40, 60, 61), read(0, 10, 62, 63)}, 1},
		"backwards in two":          {[]record{wrote(10, 10, 20), wrote(40, 40, 50), read(0, 40, 60, 61), read(1, 10, 62, 63)}, 0},
		"at once":                   {[]record{wrote(10, 10, 20), wrote(40, 40, 50), read(0, 40, 60, 65), read(0, 10, 62, 63)}, 0},
		"of the future":             {[]record{read(0, 5e6, 60, 65)}, 1},
		"lost":                      {[]record{wrote(10, 10, 20), {Kind: kindWrite, Op: opLoss, From: 30, To: 40}, read(0, 10, 141, 142)}, 1},
		"written beside a loss":     {[]record{wrote(10, 10, 35), {Kind: kindWrite, Op: opLoss, From: 30, To: 40}, read(0, 10, 141, 142)}, 0},
		"loaded, old":               {[]record{of(wrote(10, 10, 20), loaded), of(read(0, 9, 121, 122), loaded)}, 1},
		"loaded, ahead of the rest": {[]record{of(wrote(10, 10, 20), loaded), of(read(0, 15, 21, 22), loaded), of(read(0, 10, 23, 24), loaded)}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			checker := newChecker(bound)
			checker.round(c.records)
			if len(checker.violations) != c.want {
				t.Errorf("%d violations, want %d: %q", len(checker.violations), c.want, checker.violations)
			}
		})
	}
}

func TestCheckerSettled(t *testing.T) {
	of := func(k kind, process uint8, value int64) record {
		return record{Kind: k, Process: process, Key: 7, Value: value}
	}
	for want, records := range [][]record{
		{of(kindShared, 0, 5), of(kindShared, 1, 5), of(kindLocal, 0, 5), of(kindLocal, 1, 5)},
		{of(kindShared, 0, 5), of(kindLocal, 0, 4)},
		{of(kindShared, 0, 5), of(kindShared, 1, 4), of(kindLocal, 0, 5)},
	} {
		c := newChecker(1)
		c.settled(records)
		if want = min(want, 1); len(c.violations) < want || want == 0 && len(c.violations) > 0 {
			t.Errorf("%d violations, want %d: %q", len(c.violations), want, c.violations)
		}
	}
}
