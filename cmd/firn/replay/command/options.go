package command

import (
	"fmt"
	"math"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/urfave/cli/v3"

	"github.com/firncache/firn"
	"github.com/firncache/firn/cmd/firn/replay"
	"github.com/firncache/firn/internal/workload"
)

// The budget where neither -ram nor -fraction is given: for a trace a share of its
// working set, but no less than the smallest cache; for the generated workload
// a fixed size.
const (
	defaultFraction = 0.1
	smallestRAM     = 64 << 10
	defaultRAM      = 128 << 20
)

// Options are the flags of a replay, as parsed and checked.
type Options struct {
	Traces     []string // paths, or Stdin; none: the generated workload
	StdinFile  string   // has what stdin had, where that is a trace
	RAMBytes   int64    // budget; 0: see Fraction
	Fraction   float64  // of the working set; 0: see RAMBytes
	leastRAM   int64    // bound of what Fraction may come to
	ValueSize  uint32   // bytes; 0: not given
	Goroutines int
	Limit      int64         // requests; 0: all
	Time       time.Duration // the replay ends after it; 0: with the requests
	Format     string
	Seed       uint64
	TTL        time.Duration
	SSD        firn.SSDOptions // Bytes 0: none; Dir empty: a temporary one. See ParseSSD
}

// Flags returns the definitions of the flags that ParseOptions reads.
func Flags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "ram", Usage: "RAM budget `SIZE`, such as 64MiB (default: -fraction 0.1, at least 64KiB; 128MiB without a trace)"},
		&cli.FloatFlag{Name: "fraction", HideDefault: true, Usage: "RAM budget as a share `F` of the trace's working set (keys and values of its distinct keys); reads the trace twice"},
		&cli.StringFlag{Name: "value-size", Usage: "`SIZE` of the values whose size the trace does not tell (default: 256); without a trace, of all values"},
		&cli.IntFlag{Name: "goroutines", Value: runtime.GOMAXPROCS(0), Usage: "replay with `N` goroutines; 1 keeps the exact order"},
		&cli.Int64Flag{Name: "limit", HideDefault: true, Usage: "end after `N` requests"},
		&cli.DurationFlag{Name: "time", HideDefault: true, Usage: "end after `D`, such as 30s, if the requests have not ended before; 0: only with them (default: 15s without a trace or -limit)"},
		&cli.StringFlag{Name: "format", Usage: "trace format `NAME`: trc, oraclegeneral, arc, lirs, twitter, csv or csv:COLUMN,... (default: detected)"},
		&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "`N` that the generated workload and the choice of timed requests derive from"},
		&cli.DurationFlag{Name: "ttl", HideDefault: true, Usage: "time to live `D`, such as 30s, of values that bring none of their own"},
	}
}

// ParseOptions checks the flags of cmd. Its errors are usage errors.
func ParseOptions(cmd *cli.Command) (Options, error) {
	o := Options{
		Traces:     cmd.Args().Slice(),
		Fraction:   cmd.Float("fraction"),
		Goroutines: cmd.Int("goroutines"),
		Limit:      cmd.Int64("limit"),
		Time:       cmd.Duration("time"),
		Format:     cmd.String("format"),
		Seed:       cmd.Uint64("seed"),
		TTL:        cmd.Duration("ttl"),
	}
	const maxGoroutines = 1 << 14
	switch {
	case cmd.IsSet("ram") && cmd.IsSet("fraction"):
		return o, usage("-ram and -fraction both set the budget: give one of them")
	case cmd.IsSet("fraction") && !(o.Fraction > 0 && o.Fraction <= 1000):
		return o, usage("-fraction %v: expected a number above 0, such as 0.1", o.Fraction)
	case o.Goroutines < 1 || o.Goroutines > maxGoroutines:
		return o, usage("-goroutines %d: expected 1 to %d", o.Goroutines, maxGoroutines)
	case o.Limit < 0 || cmd.IsSet("limit") && o.Limit == 0:
		return o, usage("-limit %d: expected a number of requests above 0", o.Limit)
	case o.Time < 0:
		return o, usage("-time %v: expected a duration such as 30s", o.Time)
	case o.TTL < 0:
		return o, usage("-ttl %v: expected a duration such as 30s", o.TTL)
	case o.Format != "" && len(o.Traces) == 0:
		return o, usage("-format %s without a trace", o.Format)
	}
	if err := workload.CheckFormat(o.Format); err != nil {
		return o, usage("-format: %w", err)
	}
	if err := o.parseSizes(cmd); err != nil {
		return o, err
	}
	if !cmd.IsSet("ram") && !cmd.IsSet("fraction") {
		o.setDefaultBudget()
	}
	return o, nil
}

func (o *Options) setDefaultBudget() {
	if len(o.Traces) > 0 {
		o.Fraction, o.leastRAM = defaultFraction, smallestRAM
	} else {
		o.RAMBytes = defaultRAM
	}
}

// defaultTime is how long the generated requests are replayed where nothing else
// is said: longer than most disks need for all of them.
const defaultTime = 15 * time.Second

// SetDefaultTime sets the time limit of a run that has neither trace nor limit and
// compares nothing: it shows what a cache does, and no figure needs all of it.
func (o *Options) SetDefaultTime(cmd *cli.Command) {
	if len(o.Traces) == 0 && o.Limit == 0 && !cmd.IsSet("time") {
		o.Time = defaultTime
	}
}

func (o *Options) parseSizes(cmd *cli.Command) error {
	if cmd.IsSet("ram") {
		n, err := ParseSize("ram", cmd.String("ram"), math.MaxInt64)
		if err != nil {
			return err
		}
		o.RAMBytes = int64(n)
	}
	if cmd.IsSet("value-size") {
		n, err := ParseSize("value-size", cmd.String("value-size"), math.MaxInt32)
		if err != nil {
			return err
		}
		o.ValueSize = uint32(n)
	}
	return nil
}

// ParseSize parses the size in bytes that a flag has, with a unit or without:
// 64MiB, 64MB, 4096; of -ram also the part of the process's limit of memory, 40%. Its
// errors are usage errors.
func ParseSize(flag, text string, limit uint64) (uint64, error) {
	if part, ok := strings.CutSuffix(text, "%"); ok && flag == "ram" {
		percent, err := strconv.ParseFloat(part, 64)
		most := firn.MemoryLimit()
		if err != nil || !(percent > 0 && percent <= 100) || most == 0 {
			return 0, usage("-ram %q: expected more than 0%% and up to 100%% of the process's limit of memory, %s here", text, humanize.IBytes(uint64(most)))
		}
		return uint64(percent / 100 * float64(most)), nil
	}
	n, err := humanize.ParseBytes(text)
	if err != nil {
		return 0, usage("-%s %q: expected a size such as 64MiB, 64MB or 4096", flag, text)
	}
	if n == 0 || n > limit {
		return 0, usage("-%s %q: expected 1 byte to %s", flag, text, humanize.IBytes(limit))
	}
	return n, nil
}

// valueSize is the size of values that the workload does not have.
func (o *Options) valueSize() uint32 {
	if o.ValueSize == 0 {
		return 256
	}
	return o.ValueSize
}

// Args returns the flags that make another program replay one trace like this,
// under a budget of ram bytes. An empty trace stands for the generated workload.
func (o *Options) Args(trace string, ram int64) []string {
	args := []string{
		"-ram", strconv.FormatInt(ram, 10),
		"-goroutines", strconv.Itoa(o.Goroutines),
		"-seed", strconv.FormatUint(o.Seed, 10),
		"-ttl", o.TTL.String(),
	}
	if o.ValueSize > 0 {
		args = append(args, "-value-size", strconv.FormatUint(uint64(o.ValueSize), 10))
	}
	if o.Limit > 0 {
		args = append(args, "-limit", strconv.FormatInt(o.Limit, 10))
	}
	if o.Time > 0 {
		args = append(args, "-time", o.Time.String())
	}
	if trace == "" {
		return args
	}
	if o.Format != "" {
		args = append(args, "-format", o.Format)
	}
	return append(args, "--", trace)
}

// open returns the requests of a trace, or the generated ones if trace is empty.
func (o *Options) open(trace string) (workload.Source, error) {
	if trace == "" {
		mix := workload.DefaultMix()
		mix.Seed, mix.ValueSize = o.Seed, o.ValueSize
		if o.SSD.Bytes > 0 {
			mix.Requests = generatedRequests
		}
		if o.Limit > 0 {
			mix.Requests = o.Limit
		}
		return mix.Source(), nil
	}
	path := trace
	if trace == Stdin {
		path = o.StdinFile
	}
	src, err := workload.OpenAs(TraceName(trace), path, o.Format)
	if err != nil {
		return nil, err
	}
	if o.Limit > 0 {
		src = workload.Limit(src, o.Limit)
	}
	return src, nil
}

// config is the part of a run's configuration that the flags set.
func (o *Options) config(ram int64, progress *replay.Progress) replay.Config {
	return replay.Config{
		Store:     replay.StoreOptions{RAMBytes: ram, TTL: o.TTL, Goroutines: o.Goroutines},
		ValueSize: o.valueSize(),
		Seed:      o.Seed,
		Regular:   o.SSD.Compress,
		Progress:  progress,
	}
}

// Workloads returns the traces to replay, one after another; a single empty
// one, which stands for the generated workload, if none was named.
func (o *Options) Workloads() []string {
	if len(o.Traces) == 0 {
		return []string{""}
	}
	return o.Traces
}

// TraceName is how results call a trace.
func TraceName(trace string) string {
	switch trace {
	case "":
		return "generated"
	case Stdin:
		return "stdin"
	}
	return trace
}

// Stdin is the trace that comes from standard input.
const Stdin = "-"

func usage(format string, args ...any) error {
	return fmt.Errorf("%w%w", errUsage, fmt.Errorf(format, args...))
}
