package typed

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/tests/harness"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// readFlood stores so many values and reads each once, so that they are worth their place on the SSD.
func readFlood(t *testing.T, cache *firn.Typed[uint64, []byte], from, n uint64) {
	t.Helper()
	for i := range n {
		harness.Must(t, cache.Set(from+i, make([]byte, 1000)))
		if i > 0 {
			cache.Get(from + i - 1)
		}
	}
}

// smallSSD is an SSD tier of 8 MiB.
func smallSSD(o *firn.Options) { o.SSD.Bytes, o.Clock = 8<<20, time.Now }

// A flood in a namespace with MaxBytes has its part of the SSD and takes nothing from another one,
// which without it loses nearly all. Of the flood the last values are there, not the first.
func TestMaxBytesShareOfSSD(t *testing.T) {
	t.Parallel()
	harness.SkipUnderRace(t)
	synctest.Test(t, shareOfSSD)
}

func shareOfSSD(t *testing.T) {
	const most, n, flood = 128 << 10, 3500, 20_000
	for _, limit := range []int64{0, most} {
		c := harness.OpenOn(t, vfstest.NewMem(), smallSSD)
		rows := harness.NewTyped(t, c, "rows", blobs{HotValues: -1})
		pages := harness.NewTyped(t, c, "pages", blobs{HotValues: -1, MaxBytes: limit})
		readFlood(t, rows, 0, n)
		for i := uint64(0); i < flood; i += 50 {
			readFlood(t, pages, i, 50)
			synctest.Wait()
		}
		s, all := pages.Stats(), c.Stats()
		last := 0
		for i := range uint64(600) {
			if pages.Has(flood - 600 + i) {
				last++
			}
		}
		found := hitsOf(rows, n)
		harness.Must(t, harness.CheckInvariants(c))
		switch {
		case limit == 0:
			if found > .5 || s.SSDBytes != 0 || s.MaxSSDBytes != 0 || all.SSD.QuotaRejected+all.SSD.QuotaEvicted != 0 {
				t.Errorf("without MaxBytes %.0f %% of the rows are left; %+v", 100*found, s)
			}
		case found < .99:
			t.Errorf("%.1f %% of the rows are left after a flood of pages", 100*found)
		case s.SSDBytes > s.MaxSSDBytes || s.SSDBytes < s.MaxSSDBytes*3/4 || s.MaxSSDBytes > 1<<20 || s.MaxSSDBytes < 900<<10:
			t.Errorf("the pages have %d bytes of the SSD, of %d", s.SSDBytes, s.MaxSSDBytes)
		case last < 450 || all.SSD.QuotaEvicted == 0:
			t.Errorf("of the last 600 pages %d are there; %d left for the share", last, all.SSD.QuotaEvicted)
		}
	}
}

// What a namespace has on the SSD is counted again where its share was set after it was written: by
// the next process, or by another opening of the namespace.
func TestMaxBytesShareIsCountedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, shareCountedAgain)
}

func shareCountedAgain(t *testing.T) {
	fs := vfstest.NewMem()
	c := harness.OpenOn(t, fs, smallSSD)
	open := func() *firn.Typed[uint64, []byte] {
		return harness.NewTyped(t, c, "pages", blobs{HotValues: -1, MaxBytes: 256 << 10})
	}
	rows, pages := harness.NewTyped(t, c, "rows", blobs{HotValues: -1}), open()
	for i := range uint64(30) {
		readFlood(t, rows, i*100, 100)
		readFlood(t, pages, i*40, 40)
	}
	harness.Must(t, c.Close())
	c = harness.OpenOn(t, fs, smallSSD)
	pages = open()
	was := int64(1200 * 1032 * 3 / 4)
	time.Sleep(10 * time.Second)
	if s := pages.Stats(); s.SSDBytes < was || s.SSDBytes > was*2 {
		t.Errorf("%d bytes are counted: want %d to %d", s.SSDBytes, was, 2*was)
	}
}

// A namespace that has its share in a segment that is being written is refused more.
func TestMaxBytesShareRefuses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := harness.OpenOn(t, vfstest.NewMem(), smallSSD)
		pages := harness.NewTyped(t, c, "pages", blobs{HotValues: -1, MaxBytes: 8 << 10})
		readFlood(t, pages, 0, 2000)
		s, refused := pages.Stats(), c.Stats().SSD.QuotaRejected
		if s.SSDBytes == 0 || s.SSDBytes > s.MaxSSDBytes || refused == 0 {
			t.Errorf("%d bytes on the SSD of %d, %d values refused", s.SSDBytes, s.MaxSSDBytes, refused)
		}
	})
}
