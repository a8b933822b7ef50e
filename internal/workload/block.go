package workload

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
)

// maxRun bounds the blocks of one line of an ARC trace: 16 Mi blocks of 512
// bytes are 8 GiB, more than any single disk request.
const maxRun = 1 << 24

// parseARC parses a line of the traces published with the ARC paper (Megiddo
// and Modha, FAST 2003): first block, number of blocks, an ignored field, and
// the request's number. Each block is one request; sizes are unknown.
func parseARC(line []byte) (Request, uint64, error) {
	if len(line) == 0 {
		return Request{}, 0, nil
	}
	fields := bytes.Fields(line)
	if len(fields) != 4 {
		return Request{}, 0, fmt.Errorf("expected 4 fields (start, count, ignored, request number), found %d", len(fields))
	}
	start, err := parseUint("start", fields[0], math.MaxUint64)
	if err != nil {
		return Request{}, 0, err
	}
	count, err := parseUint("count", fields[1], maxRun)
	if err != nil {
		return Request{}, 0, err
	}
	if start > math.MaxUint64-count {
		return Request{}, 0, fmt.Errorf("start %d and count %d overflow 64 bits", start, count)
	}
	return Request{Key: start}, count, nil
}

// parseLIRS parses a line of the traces published with the LIRS paper (Jiang
// and Zhang, SIGMETRICS 2002): a block number, or "*" between phases.
func parseLIRS(line []byte) (Request, uint64, error) {
	if len(line) == 0 || string(line) == "*" {
		return Request{}, 0, nil
	}
	block, err := strconv.ParseInt(string(line), 10, 64)
	if err != nil {
		return Request{}, 0, fmt.Errorf("block number: expected an integer or *, found %s", quote(line))
	}
	return Request{Key: uint64(block)}, 1, nil
}

// parseUint parses a decimal integer of at most limit. name is for the error.
func parseUint(name string, field []byte, limit uint64) (uint64, error) {
	var v uint64
	for _, c := range field {
		digit := uint64(c - '0')
		if digit > 9 {
			return 0, fmt.Errorf("%s: expected an integer, found %s", name, quote(field))
		}
		if v > (math.MaxUint64-digit)/10 {
			return 0, fmt.Errorf("%s: %s exceeds 64 bits", name, quote(field))
		}
		v = v*10 + digit
	}
	if len(field) == 0 {
		return 0, fmt.Errorf("%s: expected an integer, found nothing", name)
	}
	if v > limit {
		return 0, fmt.Errorf("%s: %d exceeds the limit of %d", name, v, limit)
	}
	return v, nil
}

// quote returns the text of a field for an error message, shortened.
func quote(field []byte) string {
	const limit = 40
	if len(field) > limit {
		return strconv.Quote(string(field[:limit])) + "..."
	}
	return strconv.Quote(string(field))
}
