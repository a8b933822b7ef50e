package typed

import "testing"

// A namespace that is called more gets more stripes, and nothing that one goroutine counts is lost.
func TestCountersWiden(t *testing.T) {
	of := mask
	defer func() { mask = of }()
	mask = 63 // of 32 processors
	var c Counters
	read := uint64(0)
	for _, step := range []struct{ reads, stripes int }{{countsOfOne, 0}, {1, someStripes}, {countsOfSome - 2, someStripes}, {1, 64}, {countsOfSome, 64}} {
		for range step.reads {
			c.Read(true)
			c.Read(false)
		}
		read += uint64(step.reads)
		stripes := 0
		if all := c.stripes.Load(); all != nil {
			stripes = len(*all)
		}
		if got := c.Sum(); stripes != step.stripes || got != (Counts{Hits: read, Misses: read}) {
			t.Errorf("%+v and %d stripes after %d reads of each: want %d", got, stripes, read, step.stripes)
		}
	}
	c.Set(5)
	c.Set(countsOfOne)
	c.Delete(1)
	if got := c.Sum(); got.Sets != countsOfOne+5 || got.Deletes != 1 {
		t.Errorf("%+v", got)
	}
}
