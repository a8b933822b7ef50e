package advice

import (
	"strings"
	"testing"
	"time"
)

// points are of a GiB now, with miss ratios of ¼ to 8 times that: negative ones are not valid.
func points(errs float64, ratios ...float64) (all []Point) {
	for i, r := range ratios {
		p := Point{Factor: .25 * float64(int(1)<<i), Bytes: 256 << 20 << i, Valid: true, Filled: 1, MissRatio: r, Error: errs, Loads: 1000 * r}
		if r < 0 {
			p = Point{Factor: p.Factor, Bytes: p.Bytes, Filled: .319}
		}
		all = append(all, p)
	}
	for i := range all {
		all[i].Saved = time.Duration((all[2].Loads - all[i].Loads) * float64(36*time.Second))
	}
	return all
}

func TestSentences(t *testing.T) {
	t.Parallel()
	few := points(.01, -1, -1, -1)
	few[2].Filled, few[2].Keys = 1, 12
	for _, test := range []struct {
		name  string
		curve Curve
		want  string
	}{
		{"none", Curve{Lacking: "Other sizes are not simulated."}, "Other sizes are not simulated."},
		{"fits", Curve{Points: points(.01, .1, .1, .1, -1, -1, -1)}, "Everything fits: nothing was evicted from 1.0 GiB so far, and more RAM would change nothing."},
		{"begins", Curve{Evicts: true, Points: points(.01, .5, .4, -1)}, "Other sizes cannot be judged yet: the simulation of 1.0 GiB has seen 31 % of the requests that it needs."},
		{"few keys", Curve{Evicts: true, Points: few}, "Other sizes cannot be judged yet: the simulation of 1.0 GiB holds 12 keys and needs 100."},
		{"larger unknown", Curve{Evicts: true, Points: points(.01, .9, .7, .5, -1, -1, -1)},
			"Larger sizes cannot be judged yet: the simulation of 2.0 GiB has seen 31 % of the requests that it needs. " +
				"At half of it, 512 MiB, 70.0 ± 1.0 % of reads would miss: 200 more misses a second."},
		{"gain", Curve{Evicts: true, Loads: true, Points: points(.01, .9, .7, .5, .4, .1, -1)},
			"Twice the RAM, 2.0 GiB, would lower the reads that miss from 50.0 % to 40.0 ± 1.0 %: 100 fewer loads a second, 1h00m of the source's time an hour. " +
				"4 times as much, 4.0 GiB, would leave 10.0 ± 1.0 %. At half of it, 512 MiB, 70.0 ± 1.0 % of reads would miss: 200 more loads a second."},
		{"flat", Curve{Evicts: true, Points: points(.02, .5, .5, .5, .49, .49, .49)},
			"Twice the RAM, 2.0 GiB, cannot be told apart from the present size: 49.0 ± 2.0 % of reads would miss, and 50.0 % do. " +
				"Half of it, 512 MiB, cannot be told apart from the present size: 50.0 ± 2.0 % and 50.0 %."},
		{"a gap", Curve{Evicts: true, Points: points(.01, -1, -1, .5, -1, .2, -1)},
			"4 times the RAM, 4.0 GiB, would lower the reads that miss from 50.0 % to 20.0 ± 1.0 %: 300 fewer misses a second, 3h00m of the source's time an hour."},
	} {
		test.curve.Memory = "RAM"
		if got := strings.Join(test.curve.Sentences(), " "); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.name, got, test.want)
		}
	}
}

// Over an SSD loads come from another curve: those within its error are not promised.
func TestSentencesOverSSD(t *testing.T) {
	t.Parallel()
	for removed, want := range map[float64]string{8: "", 12: "12.0 fewer loads a second, "} {
		c := Curve{Memory: "RAM", Lower: true, Evicts: true, Loads: true, Points: points(.01, -1, -1, .5, .4)}
		for i := range c.Points {
			p := &c.Points[i]
			p.Loads, p.SSDReads, p.Saved, p.Doubt = 100, 1000*p.MissRatio-100, 0, 10
		}
		c.Points[3].Loads -= removed
		want = "Twice the RAM, 2.0 GiB, would lower the reads that miss RAM from 50.0 % to 40.0 ± 1.0 %: " + want + "100 fewer reads of the SSD a second."
		if got := c.Sentences()[0]; got != want {
			t.Errorf("\n got %s\nwant %s", got, want)
		}
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	for x, want := range map[float64]string{0: "0.00", .1234: "0.12", 1: "1.00", 12.34: "12.3", 123.4: "123", 999.7: "1.00 k", 1234: "1.23 k", 45_678: "45.7 k", 9.87e6: "9.87 M", 1.5e11: "150 G"} {
		if got := Rate(x); got != want {
			t.Errorf("rate %v: got %s, want %s", x, got, want)
		}
	}
	for d, want := range map[time.Duration]string{
		0: "0s", 1_234_567: "1ms", 1_234_567_890: "1.2s", 75 * time.Second: "1m15s", 90 * time.Minute: "1h30m", 73 * time.Hour: "3 d", 10_000 * 24 * time.Hour: "27 y",
	} {
		if got := Span(d); got != want {
			t.Errorf("%d: got %s, want %s", d, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 10 << 20: "10 MiB", 1<<30 - 1: "1.0 GiB", 1 << 62: "4.0 EiB"} {
		if got := Size(n); got != want {
			t.Errorf("%d bytes: got %s, want %s", n, got, want)
		}
	}
	for p, want := range map[Point]string{
		{MissRatio: .3824, Error: .00341}: "38.2 ± 0.4 %", {MissRatio: .0042, Error: .0001}: "0.42 ± 0.01 %", {}: "0.0 ± 0.0 %", {MissRatio: 1, Error: .1}: "100.0 ± 10.0 %",
	} {
		if got := Misses(&p); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
