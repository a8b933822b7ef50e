package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/dustin/go-humanize"
	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/urfave/cli/v3"

	"github.com/firncache/firn"
	"github.com/firncache/firn/cmd/firn/internal/plan"
	"github.com/firncache/firn/cmd/firn/replay/command"
	"github.com/firncache/firn/internal/record"
)

const planDescription = `Computes, without a cache, how much of the data fits into RAM and onto the
SSD, what a record costs in both, and what share of the reads each tier can
answer; and says which budget is too small for what.

The hit ratios are those of a cache that holds what is read most, and in
which the SSD has a copy of all that RAM holds. Admission read, and seen
once the SSD has been full, write less to it, and may then answer fewer
reads.

-hot and -hot-reads spread the reads evenly over the hot entries and evenly
over the others; -zipf makes the entry of rank k be read in proportion to
1/k^S.

With -curve it reads what a cache that runs, or has run, says of other
sizes: from the file that firn replay -json wrote, from the page of a
program that has one (its URL, with the slash at the end), or from a
stats.Curve in JSON; - is stdin. It prints the misses at each size, names the
knee, the size beyond which twice the memory removes less than a tenth of the
misses, and says what the next GiB is worth.

Exit status: 0, also if something does not fit, or there is not enough data
for a curve; 1 if a URL cannot be read; 2 for bad flags, files that cannot be
read, and what is no curve; 130 after an interrupt.`

// planCommand is "firn plan".
func planCommand(stdout io.Writer) *cli.Command {
	return &cli.Command{
		Name:        "plan",
		Usage:       "compute what fits into RAM and onto an SSD",
		Description: command.Flow(planDescription),
		Flags: []cli.Flag{
			&cli.Int64Flag{Name: "entries", HideDefault: true, Usage: "`N` entries"},
			&cli.StringFlag{Name: "data", Usage: "as many entries as have keys and values of `SIZE` together, such as 100GB"},
			&cli.StringFlag{Name: "key-size", Value: "16", Usage: "`SIZE` of a key"},
			&cli.StringFlag{Name: "value-size", Value: "256", Usage: "`SIZE` of a value"},
			&cli.BoolFlag{Name: "ttl", Usage: "entries expire"},
			&cli.StringFlag{Name: "ram", Usage: "RAM budget `SIZE`, such as 32GiB, or 40% of what the process may use"},
			&cli.StringFlag{Name: "ssd", Usage: "`SIZE` of the SSD tier, such as 128GiB (default: none)"},
			&cli.StringFlag{Name: "segment", Usage: "`SIZE` of the SSD tier's segments (default: as Open chooses)"},
			&cli.StringFlag{Name: "admission", Value: firn.AdmitSeen.String(), Usage: "what goes to the SSD: `KIND` all, read or seen"},
			&cli.FloatFlag{Name: "hot", Value: .2, Usage: "share `F` of the entries that is hot"},
			&cli.FloatFlag{Name: "hot-reads", Value: .8, Usage: "share `F` of the reads that goes to hot entries"},
			&cli.FloatFlag{Name: "zipf", HideDefault: true, Usage: "reads follow Zipf's law with exponent `S`, in place of -hot"},
			&cli.BoolFlag{Name: "json", Usage: "write the figures as JSON"},
			&cli.StringFlag{Name: "curve", Usage: "in place of all above: read the what-if curve that `FILE|URL` has"},
			&cli.StringFlag{Name: "cache", Usage: "with -curve: only that of the cache or trace of this `NAME` (default: all)"},
		},
		Action: func(ctx context.Context, cmd *cli.Command) error {
			if cmd.IsSet("curve") || cmd.IsSet("cache") {
				return planCurve(ctx, cmd, stdout)
			}
			q, err := parsePlan(cmd)
			if err != nil {
				return err
			}
			a, err := plan.Compute(&q)
			if err != nil {
				return command.Usage(fmt.Errorf("-ram %q: %w", cmd.String("ram"), err))
			}
			if cmd.Bool("json") {
				return json.NewEncoder(stdout).Encode(a)
			}
			return printPlan(stdout, &a)
		},
	}
}

// parsePlan checks the flags of cmd. Its errors are usage errors.
func parsePlan(cmd *cli.Command) (q plan.Question, err error) {
	if cmd.Args().Present() {
		return q, command.Usage(fmt.Errorf("plan takes no argument, and got %q", cmd.Args().First()))
	}
	if !cmd.IsSet("ram") {
		return q, command.Usage(errors.New("-ram is missing: expected a size such as 32GiB"))
	}
	for _, f := range []struct {
		name  string
		to    *int64
		limit int64
	}{
		{"key-size", &q.Key, record.MaxKey}, {"value-size", &q.Value, math.MaxInt32}, {"ram", &q.RAM, maxPlan}, {"ssd", &q.SSD, maxPlan}, {"segment", &q.Segment, maxPlan},
	} {
		if text := cmd.String(f.name); cmd.IsSet(f.name) || text != "" {
			n, err := command.ParseSize(f.name, text, uint64(f.limit))
			if err != nil {
				return q, err
			}
			*f.to = int64(n)
		}
	}
	q.Expires = cmd.Bool("ttl")
	if err := q.Admission.UnmarshalText([]byte(cmd.String("admission"))); err != nil {
		return q, command.Usage(fmt.Errorf("-admission %q: expected all, read or seen", cmd.String("admission")))
	}
	for _, parse := range []func(*cli.Command, *plan.Question) error{parseEntries, checkBudgets, parsePopularity} {
		if err := parse(cmd, &q); err != nil {
			return q, command.Usage(err)
		}
	}
	return q, nil
}

// maxPlan is the most bytes of data, RAM or SSD that are planned.
const maxPlan = 1 << 46

// parseEntries finds out how many entries there are.
func parseEntries(cmd *cli.Command, q *plan.Question) error {
	each := q.Key + q.Value
	switch {
	case cmd.IsSet("entries") == cmd.IsSet("data"):
		return errors.New("-entries or -data says how much there is: give one of them")
	case cmd.IsSet("data"):
		n, err := command.ParseSize("data", cmd.String("data"), maxPlan)
		if err != nil {
			return err
		}
		if q.Entries = int64(n) / each; q.Entries == 0 {
			return fmt.Errorf("-data %q: expected at least a key and a value, %d bytes", cmd.String("data"), each)
		}
	default:
		if q.Entries = cmd.Int64("entries"); q.Entries < 1 || q.Entries > maxPlan/each {
			return fmt.Errorf("-entries %d: expected 1 to %d, %s of data", q.Entries, maxPlan/each, humanize.IBytes(maxPlan))
		}
	}
	return nil
}

// checkBudgets makes the checks of Open.
func checkBudgets(cmd *cli.Command, q *plan.Question) error {
	least := int64(firn.MinRAMBytes)
	if q.SSD > 0 {
		least = firn.MinRAMBytesWithSSD
	}
	switch {
	case q.RAM < least:
		return fmt.Errorf("-ram %q: expected at least %s", cmd.String("ram"), humanize.IBytes(uint64(least)))
	case cmd.IsSet("ssd") && q.SSD < firn.MinSSDBytes:
		return fmt.Errorf("-ssd %q: expected at least %s", cmd.String("ssd"), humanize.IBytes(firn.MinSSDBytes))
	case q.Segment > 0 && q.SSD == 0:
		return fmt.Errorf("-segment %q without -ssd", cmd.String("segment"))
	case q.Segment > 0 && (q.Segment < 64<<10 || q.Segment > 64<<20 || q.Segment&(q.Segment-1) != 0 || q.Segment > min(q.RAM, q.SSD)/8):
		return fmt.Errorf("-segment %q: expected a power of two from 64KiB to 64MiB, at most an eighth of -ram and of -ssd", cmd.String("segment"))
	}
	return nil
}

// parsePopularity finds out how reads are spread.
func parsePopularity(cmd *cli.Command, q *plan.Question) error {
	p := plan.Popularity{Zipf: cmd.Float("zipf"), Hot: cmd.Float("hot"), HotReads: cmd.Float("hot-reads")}
	switch {
	case cmd.IsSet("zipf") && (cmd.IsSet("hot") || cmd.IsSet("hot-reads")):
		return errors.New("-zipf and -hot both spread the reads: give one of them")
	case cmd.IsSet("zipf") && !(p.Zipf > 0 && p.Zipf <= 10):
		return fmt.Errorf("-zipf %v: expected an exponent above 0, at most 10, such as 0.99", p.Zipf)
	case !(p.Hot > 0 && p.Hot < 1):
		return fmt.Errorf("-hot %v: expected a share above 0 and below 1, such as 0.2", p.Hot)
	case !(p.HotReads >= p.Hot && p.HotReads <= 1):
		return fmt.Errorf("-hot-reads %v: expected a share from that of -hot, %v, to 1", p.HotReads, p.Hot)
	}
	q.Popularity = p
	return nil
}

// printPlan prints the table, and below it what is missing.
func printPlan(w io.Writer, a *plan.Answer) error {
	fmt.Fprintf(w, "%s entries, %s of keys and values\n", humanize.Comma(a.Entries), humanize.IBytes(uint64(a.DataBytes)))
	t := table.NewWriter()
	t.SetOutputMirror(w)
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	t.SetColumnConfigs([]table.ColumnConfig{{Number: 2, Align: text.AlignRight, AlignHeader: text.AlignRight}, {Number: 3, Align: text.AlignRight, AlignHeader: text.AlignRight}})
	t.AppendHeader(table.Row{"", "RAM", "SSD"})
	for _, row := range planRows(a) {
		t.AppendRow(row)
	}
	t.Render()
	if a.SSD != nil {
		fmt.Fprintf(w, "both tiers hold at least %s of the entries, answer %s of the reads\n", percent(a.HeldShare), percent(a.HitRatio))
	}
	for _, m := range a.Missing {
		fmt.Fprintf(w, "%s: needs %s, there are %s", m.What, humanize.IBytes(uint64(m.Need)), humanize.IBytes(uint64(m.Have)))
		if m.Least > 0 {
			fmt.Fprintf(w, "; needs at least -%s %s", m.Flag, wholeSize(m.Least))
		}
		fmt.Fprintln(w)
	}
	return nil
}

// wholeSize shows a size in the largest unit that it has ten or more of,
// rounded up, in the form that flags take.
func wholeSize(n int64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	shift := 0
	for shift/10 < len(units)-1 && n>>(shift+10) >= 10 {
		shift += 10
	}
	return strconv.FormatInt((n+1<<shift-1)>>shift, 10) + units[shift/10]
}

// ratio shows a figure that is 0 where nothing fits.
func ratio(digits int, x float64) string {
	if x <= 0 {
		return "-"
	}
	return strconv.FormatFloat(x, 'f', digits, 64)
}

func planRows(a *plan.Answer) []table.Row {
	size := func(n int64) string { return humanize.IBytes(uint64(n)) }
	r, s := &a.RAM, a.SSD
	if s == nil {
		return []table.Row{
			{"budget", size(r.Bytes), "-"},
			{"records that fit", humanize.Comma(r.Capacity), "-"},
			{"records held", humanize.Comma(r.Records), "-"},
			{"share of the data", percent(r.Share), "-"},
			{"hit ratio", percent(r.HitRatio), "-"},
			{"bytes of a record", humanize.Comma(r.RecordSize), "-"},
			{"RAM for each record, beyond key and value", ratio(1, r.Beyond), "-"},
		}
	}
	mirror := table.Row{"MirrorEvery: index and log of the copies", "-", fmt.Sprintf("needs %s", size(2*r.Bytes))}
	if m := s.Mirror; m != nil {
		mirror = table.Row{mirror[0], fmt.Sprintf("%s, %.1f %%", size(m.IndexBytes), 100*m.IndexShare), size(m.LogBytes)}
	}
	return []table.Row{
		{"budget", size(r.Bytes), size(s.Bytes)},
		{"records that fit", humanize.Comma(r.Capacity), humanize.Comma(s.Capacity)},
		{"records held", humanize.Comma(r.Records), humanize.Comma(s.Records)},
		{"share of the data", percent(r.Share), percent(s.Share)},
		{"hit ratio", percent(r.HitRatio), percent(s.HitRatio)},
		{"bytes of a record", humanize.Comma(r.RecordSize), humanize.Comma(s.OnDisk)},
		{"  header + padding + place in the list", "", fmt.Sprintf("%d + %d + %d", s.HeaderBytes, s.PaddingBytes, s.ListedBytes)},
		{"bytes of files for one of data, when full", "", ratio(3, s.Amplification)},
		{"RAM for each record, beyond key and value", ratio(1, r.Beyond), ratio(2, s.IndexEach)},
		{"RAM for the SSD's index, and its growth", size(s.IndexBytes), ""},
		mirror,
		{"RAM for the SSD's buffers", size(s.BufferBytes), ""},
		{"segments", "", fmt.Sprintf("%s of %s", humanize.Comma(s.Segments), size(s.SegmentBytes))},
		{"  kept free", "", humanize.Comma(s.Ahead)},
		{"snapshot", "", size(s.SnapshotBytes)},
	}
}

func percent(share float64) string { return fmt.Sprintf("%.2f %%", 100*share) }
