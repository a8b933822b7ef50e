package ssd

import (
	"encoding/binary"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firncache/firn"
	"github.com/firncache/firn/internal/tests/harness"
	"github.com/firncache/firn/internal/vfs/vfstest"
)

// What data sheets say becomes bytes a day, and what they cannot say an error of
// the option.
func TestWriteBudgetOfDataSheets(t *testing.T) {
	t.Parallel()
	inf, nan := math.Inf(1), math.NaN()
	dwpd, tbw := firn.WriteBudgetDWPD, firn.WriteBudgetTBW
	for _, test := range []struct {
		name string
		got  func() (int64, error)
		want int64 // 0: an error
	}{
		{"one write a day", func() (int64, error) { return dwpd(1, 960e9) }, 960e9},
		{"a third", func() (int64, error) { return dwpd(.3, 1.92e12) }, 576e9},
		{"600 TB in 5 years", func() (int64, error) { return tbw(600, 5) }, 328542094455},
		{"no drive", func() (int64, error) { return dwpd(1, 0) }, 0},
		{"less than none", func() (int64, error) { return dwpd(-1, 960e9) }, 0},
		{"no number", func() (int64, error) { return dwpd(nan, 960e9) }, 0},
		{"no end", func() (int64, error) { return dwpd(inf, 960e9) }, 0},
		{"nothing", func() (int64, error) { return dwpd(1e-300, 1) }, 0},
		{"no years", func() (int64, error) { return tbw(600, 0) }, 0},
		{"no terabytes", func() (int64, error) { return tbw(0, 5) }, 0},
		{"for ever", func() (int64, error) { return tbw(600, inf) }, 0},
		{"at once", func() (int64, error) { return tbw(600, 1e-300) }, 0},
	} {
		got, err := test.got()
		var option *firn.OptionError
		if test.want == 0 {
			if got != 0 || !errors.As(err, &option) || option.Field != "SSD.WriteBudget" {
				t.Errorf("%s: %d, %v: want an OptionError of SSD.WriteBudget", test.name, got, err)
			}
		} else if math.Abs(float64(got-test.want)) > 1 || err != nil {
			t.Errorf("%s: %d, %v: want %d", test.name, got, err, test.want)
		}
	}
}

// A budget below none is an error of its field, and one without a tier too.
func TestWriteBudgetIsValidated(t *testing.T) {
	t.Parallel()
	for field, o := range map[string]firn.SSDOptions{
		"SSD.WriteBudget": {Dir: "d", Bytes: firn.MinSSDBytes, WriteBudget: -1},
		"SSD.Dir":         {WriteBudget: 1e12},
	} {
		var option *firn.OptionError
		if err := (firn.Options{RAMBytes: firn.MinRAMBytesWithSSD, SSD: o}).Validate(); !errors.As(err, &option) || option.Field != field {
			t.Errorf("%+v: %v: want an OptionError of %s", o, err, field)
		}
	}
}

// Stats tell of the budget, and of what was written for lack of one.
func TestWriteBudgetInStats(t *testing.T) {
	t.Parallel()
	const budget = 3 << 20
	for _, b := range []int64{0, budget} {
		synctest.Test(t, func(t *testing.T) {
			c, err := firn.Open(firn.Options{RAMBytes: 1 << 20, Clock: time.Now, SSD: harness.On(firn.SSDOptions{
				Bytes: 16 << 20, SegmentBytes: 64 << 10, Admission: firn.AdmitAll, WriteBudget: b,
			}, vfstest.NewMem())})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			for i := range 10_000 {
				if err := c.Set(binary.BigEndian.AppendUint32(nil, uint32(i)), make([]byte, 1000)); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Millisecond)
			}
			s := c.Stats()
			if s.SSD.WriteBudgetBytes != b || s.SSD.WrittenDayBytes != int64(s.SSD.WrittenBytes) || s.SSD.WriteForecastBytes < 1e9 {
				t.Errorf("a budget of %d: %d; written in a day %d, in all %d, forecast %d",
					b, s.SSD.WriteBudgetBytes, s.SSD.WrittenDayBytes, s.SSD.WrittenBytes, s.SSD.WriteForecastBytes)
			}
			if b == 0 && (s.SSD.Limited > 0 || s.SSD.AdmittedPercent != 100 || s.SSD.WrittenBytes < 8e6) ||
				b > 0 && (s.SSD.Limited == 0 || s.SSD.AdmittedPercent > 25 || s.SSD.WrittenBytes > budget) {
				t.Errorf("a budget of %d: %d bytes written, %d records limited, %d %% admitted", b, s.SSD.WrittenBytes, s.SSD.Limited, s.SSD.AdmittedPercent)
			}
		})
	}
}
