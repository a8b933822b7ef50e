package format

import "testing"

// A slot has the segment that its header names, and a trailer that is that segment's.
func TestEnds(t *testing.T) {
	t.Parallel()
	const size = 1 << 20
	header := func(log, serial uint64) []byte {
		return goldenBytes(SegmentHeaderLen, func(b []byte) { PutSegmentHeader(b, log, serial, size) })
	}
	end := func(log, serial uint64) []byte {
		tr := goldenTrailer
		tr.Serial = serial
		return append(make([]byte, 100), goldenBytes(TrailerLen, func(b []byte) { tr.Put(b, log) })...)
	}
	for name, test := range map[string]struct {
		head, tail              []byte
		serial, last            uint64
		sealed, lost, isForeign bool
	}{
		"sealed":                 {header(goldenLog, 7), end(goldenLog, 7), 7, 7, true, false, false},
		"being written":          {header(goldenLog, 7), end(goldenLog, 3), 7, 7, false, false, false},
		"an older header":        {header(goldenLog, 3), end(goldenLog, 7), 3, 7, false, false, false},
		"no header":              {make([]byte, 64), end(goldenLog, 7), 0, 7, false, true, false},
		"an unreadable header":   {nil, end(goldenLog, 7), 0, 7, false, true, false},
		"an unreadable trailer":  {header(goldenLog, 7), nil, 7, 7, false, false, false},
		"another log":            {header(goldenLog+1, 7), end(goldenLog+1, 7), 0, 0, false, false, true},
		"another log's trailer":  {header(goldenLog, 7), end(goldenLog+1, 9), 7, 7, false, false, false},
		"a damaged trailer":      {header(goldenLog, 7), append(end(goldenLog, 9)[:147], 1), 7, 7, false, false, false},
		"nothing was ever there": {make([]byte, 64), make([]byte, 48), 0, 0, false, false, false},
	} {
		e := ParseEnds(test.head, test.tail, goldenLog, size)
		if e.Serial != test.serial || e.LastSerial() != test.last || e.Sealed() != test.sealed || e.LostHeader() != test.lost || e.Foreign != test.isForeign {
			t.Errorf("%s: %+v", name, e)
		}
	}
}
