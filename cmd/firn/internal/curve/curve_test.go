package curve

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/firncache/firn"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
	}
}

// read reads a curve that a test has as a file: of RAM, or of both tiers.
func read(t *testing.T, name string) firn.Curve {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	curves, err := Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return curves[0].Curve
}

// The chart at the widths that terminals have.
func TestChart(t *testing.T) {
	t.Parallel()
	var all strings.Builder
	for _, name := range []string{"tiers.json", "ram.json"} {
		c := read(t, name)
		for _, columns := range []int{20, 40, 60, 80, 120} {
			var out strings.Builder
			Chart(&out, &c, columns)
			fmt.Fprintf(&all, "%s, %d columns\n%s\n", name, columns, &out)
			for line := range strings.Lines(out.String()) {
				if n := utf8.RuneCountInString(line) - 1; n >= max(columns, 40) {
					t.Errorf("%s: a line of %d in a terminal of %d: %s", name, n, columns, line)
				}
			}
		}
	}
	golden(t, "chart.txt", all.String())
}

func TestTable(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	Table(&out, &Named{"two tiers", read(t, "tiers.json")})
	Table(&out, &Named{"", read(t, "ram.json")})
	Table(&out, &Named{"too small", firn.Curve{}})
	for line := range strings.Lines(out.String()) {
		if n := utf8.RuneCountInString(line) - 1; n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	golden(t, "table.txt", out.String())
}

// sizesOf makes a curve of a GiB now: miss ratios of the usual sizes, negative ones not valid.
func sizesOf(knee int, ratios ...float64) firn.SizeCurve {
	c := firn.SizeCurve{Knee: knee}
	for i, r := range ratios {
		p := firn.CurvePoint{Factor: .25 * float64(int(1)<<i), Bytes: 256 << 20 << i, MissRatio: r, Error: .01, Loads: 1000 * r}
		if r < 0 {
			p = firn.CurvePoint{Factor: p.Factor, Bytes: p.Bytes, State: firn.CurveFilling, Filled: .31}
		}
		c.Points = append(c.Points, p)
	}
	return c
}

func TestVerdict(t *testing.T) {
	t.Parallel()
	const rule = ": beyond it, twice the memory removes less than a tenth of the misses."
	few := sizesOf(-1, -1, -1, -1)
	few.Points[2].State, few.Points[2].Keys = firn.CurveFewKeys, 12
	for _, test := range []struct {
		curve firn.SizeCurve
		want  string
	}{
		{firn.SizeCurve{}, "There is not enough data: the cache is too small to be simulated, or is not (Options.WhatIf)."},
		{sizesOf(-1, .5, .4, -1), "There is not enough data of RAM: the simulation of the present size is filled to 31.0 %."},
		{few, "There is not enough data of RAM: the simulation of the present size has too few keys (12)."},
		{sizesOf(-1, -1, -1, .5, -1), "There is not enough data of RAM: nothing can be told of sizes other than the present one."},
		{sizesOf(0, .5, .5, .5, .5, .5, .5), "The knee of RAM is at 256 MiB, or below" + rule + " RAMBytes 268435456 would make the most of its memory: the misses would go from 50.0 to 50.0 %." +
			" What the next GiB of RAM would bring is less than the error of the estimate."},
		{sizesOf(2, .9, .7, .5, .49, .49, .49), "The knee of RAM is at 1.0 GiB" + rule + " That is the present size." +
			" What the next GiB of RAM would bring is less than the error of the estimate."},
		{sizesOf(4, .9, .7, .5, .4, .1, .1), "The knee of RAM is at 4.0 GiB" + rule + " RAMBytes 4294967296 would be right: the misses would go from 50.0 to 10.0 %." +
			" The next GiB of RAM would lower the misses from 50.0 to 40.0 % and save 100 loads a second: 1h00m of the source's time an hour."},
		{sizesOf(2, .9, .7, .5, .08, -1, -1), "The knee of RAM is at 1.0 GiB, as far as can be told, up to 2.0 GiB" + rule + " That is the present size." +
			" The next GiB of RAM would lower the misses from 50.0 to 8.0 % and save 420 loads a second: 4h12m of the source's time an hour." +
			" The errors are large as yet: more requests would tell more."},
		{sizesOf(-1, .9, .7, .5, -1, .2, -1), "The misses of RAM still fall at 4.0 GiB, the largest size that can be told: the knee is beyond it. RAMBytes 4294967296 or more would be right." +
			" The next GiB of RAM would lower the misses from 50.0 to 40.0 % and save 100 loads a second: 1h00m of the source's time an hour."},
		{sizesOf(-1, .9, .7, .5, -1, -1, -1), "The misses of RAM still fall at the present size, 1.0 GiB, and no larger one can be told: the knee may be beyond it." +
			" What the next GiB brings cannot be told yet: no larger size has enough data."},
		{sizesOf(-1, .05, .045, .04, .035, .03, .025), "Where the knee of RAM is cannot be told: what twice the memory removes is less than the errors." +
			" What the next GiB of RAM would bring is less than the error of the estimate. The errors are large as yet: more requests would tell more."},
	} {
		got := Verdict(&firn.Curve{RAM: test.curve, LoadTime: 10 * time.Millisecond})
		if len(got) != 1 || got[0] != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
}

// Over an SSD, loads come from the curve of both tiers: those within its error are not promised.
func TestVerdictOverSSD(t *testing.T) {
	t.Parallel()
	for removed, want := range map[float64]string{8: "", 12: ", 12.0 loads a second: 7m12s of the source's time an hour"} {
		c := firn.Curve{RAM: sizesOf(3, .9, .7, .5, .4, .4, .4), Both: sizesOf(-1, .2, .15, .1, .1, .1, .1), Reads: 1000, LoadTime: 10 * time.Millisecond}
		for i := range c.RAM.Points {
			p := &c.RAM.Points[i]
			p.Loads, p.SSDReads = 100, 1000*p.MissRatio-100
		}
		c.RAM.Points[3].Loads -= removed
		want = "The next GiB of RAM would lower the misses from 50.0 to 40.0 % and save 100 reads of the SSD a second" + want + "."
		if got := Verdict(&c)[0]; !strings.HasSuffix(got, want) {
			t.Errorf("got  %s\nwant … %s", got, want)
		}
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	for x, want := range map[float64]string{0: "0.00", .1234: "0.12", 1: "1.00", 12.34: "12.3", 123.4: "123", 1234: "1.23 k", 45_678: "45.7 k", 9.87e6: "9.87 M", 1.5e11: "150 G"} {
		if got := rate(x); got != want {
			t.Errorf("rate %v: got %s, want %s", x, got, want)
		}
	}
	for d, want := range map[time.Duration]string{
		0: "0s", 1_234_567: "1ms", 1_234_567_890: "1.2s", 75 * time.Second: "1m15s", 90 * time.Minute: "1h30m",
		-90 * time.Minute: "-1h30m", 73 * time.Hour: "3 d", 10_000 * 24 * time.Hour: "27 y",
	} {
		if got := span(d); got != want {
			t.Errorf("%d: got %s, want %s", d, got, want)
		}
	}
	for p, want := range map[firn.CurvePoint]string{
		{MissRatio: .3824, Error: .00341}: "38.2 ± 0.4", {MissRatio: .0042, Error: .0001}: "0.42 ± 0.01", {}: "0.0 ± 0.0", {MissRatio: 1, Error: .1}: "100.0 ± 10.0",
	} {
		if got := misses(&p); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
