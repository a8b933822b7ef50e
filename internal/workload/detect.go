package workload

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"strings"
)

// ErrFormat says that a format name is not one of Formats.
var ErrFormat = errors.New("unknown trace format")

// The names of the formats; see the package comment.
const (
	formatTRC     = "trc"
	formatOracle  = "oraclegeneral"
	formatARC     = "arc"
	formatLIRS    = "lirs"
	formatTwitter = "twitter"
	formatCSV     = "csv"
)

// Formats returns the names that Open takes.
func Formats() []string {
	return []string{formatTRC, formatOracle, formatARC, formatLIRS, formatTwitter, formatCSV}
}

// CheckFormat returns an error that wraps ErrFormat unless Open takes format,
// for which the empty string stands for detection.
func CheckFormat(format string) error {
	if _, err := newDecoder(format, nil); format != "" && err != nil {
		return err
	}
	return nil
}

// detectBytes is how much of the content detection looks at.
const detectBytes = 4 << 10

// detectFormat names the format of a trace by its path and the first bytes of
// its content; whole says that head is all of it.
func detectFormat(path string, head []byte, whole bool) (string, error) {
	name := strings.ToLower(filepath.Base(path))
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".zst"), ".gz")
	switch {
	case strings.HasSuffix(name, ".trc"):
		return formatTRC, nil
	case strings.Contains(name, "oraclegeneral"):
		return formatOracle, nil
	case strings.HasSuffix(name, ".lis"):
		return formatARC, nil
	}
	var found string
	if isText(head) {
		found = detectText(head, whole)
	} else {
		found = detectBinary(head)
	}
	if found == "" {
		return "", &placeError{err: fmt.Errorf(
			"%w: neither the name nor the content tells it; name it with -format (%s)",
			ErrFormat, strings.Join(Formats(), ", "))}
	}
	return found, nil
}

// isText tells whether head has no control characters but white space.
func isText(head []byte) bool {
	for _, c := range head {
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

var (
	twitterLine = regexp.MustCompile(`^\d+,.*,\d+,\d+,\d+,[a-z]+,\d+$`)
	arcLine     = regexp.MustCompile(`^\d+[ \t]+\d+[ \t]+\d+[ \t]+\d+$`)
	lirsLine    = regexp.MustCompile(`^(-?\d+|\*)$`)
)

// detectText returns the first format that every complete line of head fits.
// Any text is a CSV of at least one column.
func detectText(head []byte, whole bool) string {
	if end := bytes.LastIndexByte(head, '\n'); end >= 0 && !whole {
		head = head[:end]
	}
	for _, format := range []struct {
		name string
		line *regexp.Regexp
	}{{formatTwitter, twitterLine}, {formatARC, arcLine}, {formatLIRS, lirsLine}} {
		if allLines(head, format.line) {
			return format.name
		}
	}
	return formatCSV
}

// allLines tells whether the lines of text, of which there must be some, match
// pattern; empty lines do not count.
func allLines(text []byte, pattern *regexp.Regexp) bool {
	some := false
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		if !pattern.Match(line) {
			return false
		}
		some = true
	}
	return some
}

// detectBinary tells the fixed-size records apart by their times, which never
// go back, and by oracleGeneral's next access, which lies ahead or is none.
// It wants a few records to judge by.
func detectBinary(head []byte) string {
	const enough = 4
	if n := len(head) / oracleSize; n >= enough && plausible(n, func(i int) (uint32, bool) {
		record := head[i*oracleSize:]
		next := int64(binary.LittleEndian.Uint64(record[16:]))
		return binary.LittleEndian.Uint32(record), next == -1 || next == math.MaxInt64 || next > int64(i)
	}) {
		return formatOracle
	}
	if n := len(head) / trcSize; n >= enough && plausible(n, func(i int) (uint32, bool) {
		return binary.LittleEndian.Uint32(head[i*trcSize+12:]), true
	}) {
		return formatTRC
	}
	return ""
}

// plausible tells whether n records are fine in themselves and in order of time.
func plausible(n int, record func(i int) (time uint32, ok bool)) bool {
	var last uint32
	for i := range n {
		time, ok := record(i)
		if !ok || time < last {
			return false
		}
		last = time
	}
	return true
}
