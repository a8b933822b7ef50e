package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/firncache/firn/cmd/firn/internal/plan"
)

// What plan prints. The budgets are so small that the number of processors does
// not matter.
func TestPlanGolden(t *testing.T) {
	t.Parallel()
	for name, args := range map[string]string{
		"plan-fits":  "plan -entries 200000 -ram 48MiB -ssd 256MiB",
		"plan-short": "plan -data 2GiB -value-size 100 -ttl -ram 16MiB -ssd 1GiB -admission all",
		"plan-ram":   "plan -entries 1000000 -ram 64MiB -zipf 1",
		"plan-large": "plan -entries 1000 -value-size 300KiB -ram 4MiB -ssd 256MiB",
	} {
		status, stdout, stderr := runFirn(strings.Fields(args)...)
		if status != 0 || stderr != "" {
			t.Errorf("firn %s: status %d, stderr %q", args, status, stderr)
			continue
		}
		golden(t, name+".txt", stdout)
	}
}

// The figures as JSON are those of the package.
func TestPlanJSON(t *testing.T) {
	t.Parallel()
	status, stdout, stderr := runFirn(strings.Fields("plan -entries 100000 -key-size 20 -value-size 1KiB -ram 16MiB -ssd 64MiB -segment 512KiB -admission read -zipf 0.8 -json")...)
	if status != 0 || stderr != "" {
		t.Fatalf("status %d, stderr %q", status, stderr)
	}
	var got, want plan.Answer
	if err := json.Unmarshal([]byte(stdout), &got); err != nil {
		t.Fatal(err)
	}
	q := plan.Question{Entries: 100000, Key: 20, Value: 1024, RAM: 16 << 20, SSD: 64 << 20, Segment: 512 << 10, Admission: 1, Popularity: plan.Popularity{Zipf: .8}}
	want, err := plan.Compute(&q)
	if err != nil {
		t.Fatal(err)
	}
	if g, w := encoded(t, &got), encoded(t, &want); g != w {
		t.Errorf("got %s\nwant %s", g, w)
	}
	if _, stdout, _ = runFirn("plan", "-entries", "5", "-ram", "1MiB", "-json"); !strings.Contains(stdout, `"missing":[]`) {
		t.Errorf("nothing is missing, and the list is not empty: %s", stdout)
	}
}

func encoded(t *testing.T, a *plan.Answer) string {
	t.Helper()
	b, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestPlanBadInput(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ args, want string }{
		{"-entries 5", "firn: -ram is missing: expected a size such as 32GiB"},
		{"-ram 1MiB", "firn: -entries or -data says how much there is: give one of them"},
		{"-ram 1MiB -entries 5 -data 5GB", "firn: -entries or -data says how much there is: give one of them"},
		{"-ram 1MiB -entries 0", "firn: -entries 0: expected 1 to 258708618300, 64 TiB of data"},
		{"-ram 1MiB -entries five", `firn: invalid value "five" for flag -entries`},
		{"-ram 1MiB -data 100", `firn: -data "100": expected at least a key and a value, 272 bytes`},
		{"-ram 1MiB -data lots", `firn: -data "lots": expected a size such as 64MiB, 64MB or 4096`},
		{"-ram much -entries 5", `firn: -ram "much": expected a size such as 64MiB, 64MB or 4096`},
		{"-ram 1KiB -entries 5", `firn: -ram "1KiB": expected at least 64 KiB`},
		{"-ram 64KiB -ssd 1GiB -entries 5", `firn: -ram "64KiB": expected at least 1.0 MiB`},
		{"-ram 1MiB -ssd 1KiB -entries 5", `firn: -ssd "1KiB": expected at least 1.0 MiB`},
		{"-ram 1MiB -entries 5 -value-size 0", `firn: -value-size "0": expected 1 byte to 2.0 GiB`},
		{"-ram 1MiB -entries 5 -value-size 512KiB", `firn: -ram "1MiB": a key and a value of 524304 bytes: RAM takes at most 262144`},
		{"-ram 1MiB -entries 5 -segment 64KiB", `firn: -segment "64KiB" without -ssd`},
		{"-ram 1MiB -ssd 1MiB -entries 5 -segment 96KiB", `firn: -segment "96KiB": expected a power of two from 64KiB to 64MiB, at most an eighth of -ram and of -ssd`},
		{"-ram 1MiB -ssd 1MiB -entries 5 -segment 256KiB", `firn: -segment "256KiB": expected a power of two from 64KiB to 64MiB, at most an eighth of -ram and of -ssd`},
		{"-ram 1MiB -ssd 1MiB -entries 5 -admission none", `firn: -admission "none": expected all, read or seen`},
		{"-ram 1MiB -entries 5 -hot 1.5", "firn: -hot 1.5: expected a share above 0 and below 1, such as 0.2"},
		{"-ram 1MiB -entries 5 -hot-reads 0.1", "firn: -hot-reads 0.1: expected a share from that of -hot, 0.2, to 1"},
		{"-ram 1MiB -entries 5 -zipf 0", "firn: -zipf 0: expected an exponent above 0, at most 10, such as 0.99"},
		{"-ram 1MiB -entries 5 -zipf NaN", "firn: -zipf NaN: expected an exponent above 0, at most 10, such as 0.99"},
		{"-ram 1MiB -entries 5 -zipf 1 -hot 0.1", "firn: -zipf and -hot both spread the reads: give one of them"},
		{"-ram 1MiB -entries 5 more", `firn: plan takes no argument, and got "more"`},
	} {
		status, stdout, stderr := runFirn(append([]string{"plan"}, strings.Fields(test.args)...)...)
		if status != 2 || stdout != "" || !strings.HasPrefix(stderr, test.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("firn plan %s\nstatus %d, stdout %q\n got %swant %s", test.args, status, stdout, stderr, test.want)
		}
	}
}
