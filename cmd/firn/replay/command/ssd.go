package command

import (
	"encoding"
	"math"

	"github.com/dustin/go-humanize"
	"github.com/urfave/cli/v3"

	"github.com/firncache/firn"
)

// What the generated workload is run with, where nothing else is said: an SSD tier
// of some size that takes everything, so that it fills within seconds, and as many
// requests as write it twice and more.
const (
	defaultSSD         = 512 << 20 // bytes
	generatedAdmission = firn.AdmitAll
	generatedRequests  = 3_000_000 // with an SSD tier
)

// ssdGoroutines is how many goroutines replay through an SSD tier where nothing
// else is said: more than processors, because most that read the disk wait.
const ssdGoroutines = 16

// SSDFlags returns the definitions of the flags that ParseSSD reads.
func SSDFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "ssd", Usage: "`SIZE` of an SSD tier below RAM, such as 4GiB; 0: none (default: 0 for a trace, 512MiB without)"},
		&cli.StringFlag{Name: "dir", Usage: "directory `DIR` of the SSD tier's files, which are kept, and used if there are some (default: a temporary one, removed afterwards)"},
		&cli.StringFlag{Name: "admission", Usage: "what goes to the SSD tier when it leaves RAM: `KIND` all, read (since it was stored) or seen (all while what is live leaves room; then what was read, or offered before) (default: seen; all without a trace)"},
		&cli.StringFlag{Name: "write-budget", Usage: "write at most `SIZE` a day to the SSD tier, and up to a day's worth at once"},
		&cli.BoolFlag{Name: "compress", Usage: "compress what goes to the SSD (half of a value can be)"},
		&cli.StringFlag{Name: "direct", Value: "auto", Usage: "pass the page cache by: `WHEN` auto (if the file system can), on or off"},
		&cli.StringFlag{Name: "segment", Usage: "`SIZE` of the SSD tier's segments, a power of two from 64KiB to 64MiB (default: 1/64 of -ssd or 1/32 of -ram, whichever is less)"},
	}
}

// ParseSSD checks the flags of the SSD tier. Its errors are usage errors.
func (o *Options) ParseSSD(cmd *cli.Command) error {
	bytes, err := o.ssdBytes(cmd)
	if err != nil {
		return err
	}
	if bytes == 0 {
		for _, name := range []string{"dir", "admission", "write-budget", "compress", "direct", "segment"} {
			if cmd.IsSet(name) {
				return usage("-%s without -ssd", name)
			}
		}
		return nil
	}
	o.SSD = firn.SSDOptions{Dir: cmd.String("dir"), Bytes: bytes, Compress: cmd.Bool("compress")}
	if len(o.Traces) == 0 {
		o.SSD.Admission = generatedAdmission
	}
	if o.SSD.Dir != "" && len(o.Traces) > 1 {
		return usage("-dir with %d traces: each of them needs a directory of its own", len(o.Traces))
	}
	if !cmd.IsSet("goroutines") {
		o.Goroutines = max(o.Goroutines, ssdGoroutines)
	}
	for name, to := range map[string]encoding.TextUnmarshaler{"admission": &o.SSD.Admission, "direct": &o.SSD.DirectIO} {
		if !cmd.IsSet(name) {
			continue
		}
		if err := to.UnmarshalText([]byte(cmd.String(name))); err != nil {
			return usage("-%s %w", name, err)
		}
	}
	for name, to := range map[string]*int64{"write-budget": &o.SSD.WriteBudget, "segment": &o.SSD.SegmentBytes} {
		if cmd.IsSet(name) {
			n, err := ParseSize(name, cmd.String(name), math.MaxInt64)
			if err != nil {
				return err
			}
			*to = int64(n)
		}
	}
	return nil
}

// ssdBytes is the space of the SSD tier, 0 if there is none.
func (o *Options) ssdBytes(cmd *cli.Command) (int64, error) {
	if cmd.IsSet("ssd") {
		n, err := humanize.ParseBytes(cmd.String("ssd"))
		if err != nil || n > math.MaxInt64 {
			return 0, usage("-ssd %q: expected a size such as 4GiB, or 0", cmd.String("ssd"))
		}
		return int64(n), nil
	}
	if len(o.Traces) > 0 || o.Fraction > 0 || o.RAMBytes < firn.MinRAMBytesWithSSD {
		return 0, nil
	}
	return defaultSSD, nil
}
