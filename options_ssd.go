package firn

import (
	"log/slog"
	"math"
	"time"

	"github.com/firncache/firn/internal/enumtext"
	"github.com/firncache/firn/internal/ssd"
)

// The least sizes of an SSD tier.
const (
	MinSSDBytes        = 1 << 20 // SSDOptions.Bytes
	MinRAMBytesWithSSD = 1 << 20 // Options.RAMBytes
)

// SSDOptions describe the second tier: entries that RAM has no room for are kept
// in files, and come back when they are read. Without Dir there is none.
type SSDOptions struct {
	// Dir is the directory of the files, which serves this cache alone: it is made if it does not
	// exist, and locked while the cache is open. It must be this user's or root's, and not
	// writable by everybody, as /tmp is. It may be a symbolic link, files in it may not. Required.
	Dir string

	// Bytes is the space that all files may take together, in bytes, at least MinSSDBytes; it is
	// taken from the file system at Open, or once there is as much: until then RAM serves alone,
	// and Stats.SSD.Online is false. An existing log grows or shrinks to it: its oldest records go,
	// as far as the others need the room. Segments take RAM, at most 1/32 of RAMBytes: with
	// thousands of times as much SSD as RAM, the log takes less than Bytes. Required.
	Bytes int64

	// SegmentBytes is the unit in which the log is reclaimed, and about the longest record in one
	// piece: a power of two from 64 KiB to 64 MiB. Two segments are kept in RAM. Default: what an
	// existing log has, or 1/64 of Bytes or 1/32 of RAMBytes, whichever is less. A log with
	// segments of another size than the one given here is dropped.
	SegmentBytes int64

	// Admission says which entries are written when they leave RAM. Default: AdmitSeen.
	Admission Admission

	// WriteBudget is how many bytes a day may be written to the files, to spare the device. The
	// unused part is saved up, to a day's budget, over restarts too: within any 24 hours at most
	// twice the budget is written. While more is offered, chance decides, and what was read or
	// offered before comes first. See WriteBudgetDWPD and WriteBudgetTBW. Default 0: no limit.
	WriteBudget int64

	// Compress compresses values of 128 bytes or more, with S2, where that saves an eighth or
	// more.
	Compress bool

	// DirectIO says whether the log passes the page cache by. Default: DirectAuto.
	DirectIO DirectIO

	// Recovery says how much of an earlier process's files is used. Default: RecoverSafe.
	Recovery Recovery

	// Depth is how many reads the device is given at once: 1 to 4096. Default 0: 128.
	Depth int

	// ReadTimeout is how long a read of the device is waited for at most, that of a GetMulti for
	// each of its windows. Then it is a miss, and Lookup returns ErrSSDTimeout. It makes a read
	// that has the device for itself slower. Default 0: no limit.
	//
	// With or without one, no more than 1,024 calls wait for the device, or 8 times Depth if that
	// is more. Others are misses at once, and Lookup returns ErrSSDBusy.
	ReadTimeout time.Duration

	// MirrorEvery is how often entries that are in RAM alone are copied to the SSD tier, so that a
	// kill costs what was written in the last seconds, and not RAM: what was last written longer
	// ago than Stats.SSD.MirrorAge, usually two periods, is found again, if admission and
	// WriteBudget let it in. Bytes is at least twice RAMBytes; firn plan has the costs. Default 0:
	// never; at least 10 ms.
	MirrorEvery time.Duration
}

// minMirrorEvery is the least SSDOptions.MirrorEvery.
const minMirrorEvery = 10 * time.Millisecond

// Admission says which entries are written to the SSD when they leave RAM.
type Admission uint8

// The kinds of admission.
const (
	AdmitSeen Admission = iota // all while live entries leave room; then those that were read, or offered before
	AdmitRead                  // those that were read since they were stored
	AdmitAll                   // all
)

func (a Admission) String() string { return enumtext.Name(a, "seen", "read", "all") }

// DirectIO says whether files are read and written past the page cache.
type DirectIO uint8

// The choices.
const (
	DirectAuto DirectIO = iota // if the file system can
	DirectOn                   // or Open fails
	DirectOff
)

func (d DirectIO) String() string { return enumtext.Name(d, "auto", "on", "off") }

// Recovery says how much of an earlier process's files is used.
type Recovery uint8

// The kinds of recovery.
const (
	// RecoverSafe uses values that are certain to be the latest: after Close, and, where
	// Stats.SSD.Kept says so, after a crash of the process.
	RecoverSafe Recovery = iota
	// RecoverAlways uses all that can be read, also after the machine went down: values may
	// be older than the last that were set, and deleted ones may be back.
	RecoverAlways
	// RecoverNever starts empty, also if another version of this package wrote the files.
	RecoverNever
)

func (r Recovery) String() string { return enumtext.Name(r, "safe", "always", "never") }

// validate checks the options of a tier that is wanted.
func (o *SSDOptions) validate(ramBytes int64) error {
	if o.Dir == "" {
		if o.Bytes != 0 || o.SegmentBytes != 0 || o.Admission != 0 || o.WriteBudget != 0 || o.Compress || o.DirectIO != 0 || o.Recovery != 0 || o.Depth != 0 || o.ReadTimeout != 0 || o.MirrorEvery != 0 {
			return badOption("SSD.Dir", "is empty, and other fields of SSD are set: want a directory")
		}
		return nil
	}
	switch {
	case ramBytes < MinRAMBytesWithSSD:
		return badOption("RAMBytes", "is %d: want at least %d bytes with an SSD tier", ramBytes, MinRAMBytesWithSSD)
	case o.Bytes < MinSSDBytes:
		return badOption("SSD.Bytes", "is %d: want at least %d bytes", o.Bytes, MinSSDBytes)
	case o.Bytes > ssd.MaxBytes:
		return badOption("SSD.Bytes", "is %d: want at most %d bytes", o.Bytes, int64(ssd.MaxBytes))
	case o.SegmentBytes != 0 && (o.SegmentBytes < ssd.MinSegment || o.SegmentBytes > ssd.MaxSegment || o.SegmentBytes&(o.SegmentBytes-1) != 0):
		return badOption("SSD.SegmentBytes", "is %d: want 0, or a power of two from %d to %d bytes", o.SegmentBytes, ssd.MinSegment, ssd.MaxSegment)
	case o.SegmentBytes > o.Bytes/8:
		return badOption("SSD.SegmentBytes", "is %d: want at most an eighth of SSD.Bytes, %d bytes", o.SegmentBytes, o.Bytes/8)
	case o.SegmentBytes > ramBytes/8:
		return badOption("SSD.SegmentBytes", "is %d: want at most an eighth of RAMBytes, %d bytes", o.SegmentBytes, ramBytes/8)
	case o.Admission > AdmitAll:
		return badOption("SSD.Admission", "is %v: want AdmitSeen, AdmitRead or AdmitAll", o.Admission)
	case o.WriteBudget < 0:
		return badOption("SSD.WriteBudget", "is %d: want 0, or bytes a day", o.WriteBudget)
	case o.DirectIO > DirectOff:
		return badOption("SSD.DirectIO", "is %v: want DirectAuto, DirectOn or DirectOff", o.DirectIO)
	case o.Recovery > RecoverNever:
		return badOption("SSD.Recovery", "is %v: want RecoverSafe, RecoverAlways or RecoverNever", o.Recovery)
	case o.Depth < 0 || o.Depth > 4096:
		return badOption("SSD.Depth", "is %d: want 0, or 1 to 4096", o.Depth)
	case o.ReadTimeout != 0 && o.ReadTimeout < time.Microsecond:
		return badOption("SSD.ReadTimeout", "is %v: want 0, or at least 1µs", o.ReadTimeout)
	case o.MirrorEvery != 0 && o.MirrorEvery < minMirrorEvery:
		return badOption("SSD.MirrorEvery", "is %v: want 0, or at least %v", o.MirrorEvery, minMirrorEvery)
	case o.MirrorEvery > 0 && o.Bytes/2 < ramBytes:
		return badOption("SSD.Bytes", "is %d: want at least twice RAMBytes, %d bytes, with SSD.MirrorEvery: RAM is copied there", o.Bytes, 2*ramBytes)
	}
	return nil
}

// config is the configuration of the SSD tier.
func (o *SSDOptions) config(log *slog.Logger) ssd.Config {
	return ssd.Config{
		Bytes: o.Bytes, SegmentBytes: o.SegmentBytes,
		Admission: ssd.Admission(o.Admission), WriteBudget: o.WriteBudget, Compress: o.Compress,
		Direct: ssd.Direct(o.DirectIO), Recovery: ssd.Recovery(o.Recovery), Depth: o.Depth, Log: log,
		ReadTimeout: o.ReadTimeout,
	}
}

// The choices of SSDOptions have the names that String gives them, also as text:
// in JSON, for instance, and in the files of package config.

// MarshalText is the choice's name.
func (a Admission) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText takes "seen", "read" or "all".
func (a *Admission) UnmarshalText(text []byte) error { return enumtext.Parse(a, AdmitAll, text) }

// MarshalText is the choice's name.
func (d DirectIO) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText takes "auto", "on" or "off".
func (d *DirectIO) UnmarshalText(text []byte) error { return enumtext.Parse(d, DirectOff, text) }

// MarshalText is the choice's name.
func (r Recovery) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText takes "safe", "always" or "never".
func (r *Recovery) UnmarshalText(text []byte) error { return enumtext.Parse(r, RecoverNever, text) }

// WriteBudgetDWPD is the SSDOptions.WriteBudget that uses up a drive as its data sheet allows: so
// many drive writes a day, of so many bytes, by all programs.
func WriteBudgetDWPD(drivesADay float64, driveBytes int64) (bytesADay int64, err error) {
	if !(drivesADay > 0) || driveBytes <= 0 {
		return 0, badOption("SSD.WriteBudget", "is of %v drive writes a day of %d bytes: want both above 0, such as 0.3 of 1.92e12", drivesADay, driveBytes)
	}
	return writeBudget(drivesADay * float64(driveBytes))
}

// WriteBudgetTBW is the SSDOptions.WriteBudget that makes a drive last so many years, if the TBW
// of its data sheet is so many terabytes, of 10^12 bytes.
func WriteBudgetTBW(terabytes, years float64) (bytesADay int64, err error) {
	if !(terabytes > 0) || !(years > 0) {
		return 0, badOption("SSD.WriteBudget", "is of %v terabytes in %v years: want both above 0, such as 600 in 5", terabytes, years)
	}
	return writeBudget(terabytes * 1e12 / (years * 365.25))
}

func writeBudget(bytesADay float64) (int64, error) {
	if !(bytesADay >= 1 && bytesADay < math.MaxInt64) {
		return 0, badOption("SSD.WriteBudget", "is %v bytes a day: want 1 to %d", bytesADay, int64(math.MaxInt64))
	}
	return int64(bytesADay), nil
}
