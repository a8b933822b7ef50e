package check

import (
	"time"

	"github.com/firncache/firn/internal/ssd/format"
)

// Inspection describes a directory, from its headers and lists: values are
// not read. Times are in UTC.
type Inspection struct {
	Lock    string `json:"lock"` // "free", "in use", or "unknown"
	Files   []File `json:"files"`
	Boot    string `json:"boot"`    // of the system that looks; empty: it is not known
	Memory  bool   `json:"memory"`  // the index that the superblock names is there
	Outlook string `json:"outlook"` // the decision of a safe Open about the files

	Superblock  Superblock    `json:"superblock"`  // the valid one
	Superblocks [2]Superblock `json:"superblocks"` // of both places
	Segments    []Segment     `json:"segments"`    // those with a header of this log, oldest first
	Slots       int64         `json:"slots"`       // that the log's file has
	Foreign     int64         `json:"foreign"`     // slots with a segment of another log
	Snapshot    *SnapshotInfo `json:"snapshot"`    // nil: none
	Live        Live          `json:"live"`
	Problems    []Problem     `json:"problems"`
}

// File is a file of the directory.
type File struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
}

// Superblock describes one of the two places of the superblock. Counter and
// the fields after it are set if it is valid.
type Superblock struct {
	State        string     `json:"state"` // "valid", "damaged", "empty", "missing", "unreadable", "earlier version", "unknown version"
	Version      int        `json:"version,omitempty"`
	Counter      uint64     `json:"counter,omitempty"`
	LogID        uint64     `json:"log_id,omitempty"`
	Seed         uint64     `json:"seed,omitempty"`
	SegmentBytes int64      `json:"segment_bytes,omitempty"`
	Segments     int64      `json:"segments,omitempty"`
	UnitBytes    int        `json:"unit_bytes,omitempty"`
	Shards       int        `json:"shards,omitempty"`
	LocationBits int        `json:"location_bits,omitempty"`
	NextSegment  uint64     `json:"next_segment,omitempty"` // of the last clean close
	LastTime     *time.Time `json:"last_time,omitempty"`    // of the last clean close
	Snapshot     uint64     `json:"snapshot,omitempty"`     // its number
	Clean        bool       `json:"clean,omitempty"`
	Boot         string     `json:"boot,omitempty"`
}

// Segment is one of the log's segments.
type Segment struct {
	Slot      int        `json:"slot"`
	Serial    uint64     `json:"serial"`
	State     string     `json:"state"`      // "sealed", "open", or "freed" if an index that is believed does not name it
	Records   int        `json:"records"`    // of an open one, as far as they are whole
	DataBytes int        `json:"data_bytes"` // records, with their headers and padding
	Fill      float64    `json:"fill"`       // data / segment bytes
	SealedAt  *time.Time `json:"sealed_at,omitempty"`
}

// SnapshotInfo is the header of the snapshot.
type SnapshotInfo struct {
	Bytes    int64  `json:"bytes"`
	Number   uint64 `json:"number"`
	Records  int64  `json:"records"`
	Places   int    `json:"places"`   // of the registry, at which a tag was invalidated or a namespace cleared
	Believed bool   `json:"believed"` // it is the one that the superblock names
}

// Live is what of the log may be live: what the index in memory names, or else of each id the
// newest record, among which is what was deleted, which only the index knows. What expired is
// among both.
type Live struct {
	Records  int64 `json:"records"`   // as the index in memory or the snapshot says if one is believed, counted otherwise
	Bytes    int64 `json:"bytes"`     // of records, with headers and padding: counted
	LogBytes int64 `json:"log_bytes"` // of the segments, without those that were freed
	Sampled  int64 `json:"sampled"`   // one id of so many was counted; 1: all
}

func superblockInfo(s *format.Superblock) Superblock {
	info := Superblock{
		State: "valid", Version: format.Version, Counter: s.Counter, LogID: s.LogID, Seed: s.Seed,
		SegmentBytes: int64(s.SegmentBytes), Segments: int64(s.Segments),
		UnitBytes: 1 << s.UnitShift, Shards: 1 << s.ShardBits, LocationBits: int(s.LocationBits),
		NextSegment: s.NextSegment, Snapshot: s.Snapshot, Clean: s.Clean, Boot: s.BootID,
	}
	if s.LastTime != 0 {
		info.LastTime = timeOf(s.LastTime)
	}
	return info
}

// timeOf is nil for times that no calendar has.
func timeOf(millis int64) *time.Time {
	at := time.UnixMilli(millis).UTC()
	if at.Year() < 1970 || at.Year() > 9999 {
		return nil
	}
	return &at
}

// outlook is the decision of Open, if that were to be safe and for the same
// geometry.
func (in *Inspection) outlook() string {
	s := &in.Superblock
	switch {
	case in.Lock == "in use":
		return "locked: another has it open"
	case in.Snapshot != nil && in.Snapshot.Believed:
		return "warm, from the snapshot"
	case s.Clean:
		return "empty: there is no snapshot of the index"
	case in.Boot == "" || s.Boot == "":
		return "empty: it was not closed, and the system does not tell whether it was restarted since"
	case in.Boot != s.Boot:
		return "empty: it was not closed before the machine went down"
	case in.Memory:
		return "warm: it was not closed, and its index outlived the process"
	}
	return "empty: it was not closed, and its index did not outlive the process"
}
