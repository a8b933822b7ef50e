package workload

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// column is the meaning of a CSV column.
type column uint8

const (
	ignored column = iota
	keyColumn
	sizeColumn
	timeColumn
	ttlColumn
)

// columnNames are the header names that mean something, in lower case with
// blanks and dashes as underscores.
var columnNames = map[string]column{
	"key": keyColumn, "id": keyColumn, "obj": keyColumn, "obj_id": keyColumn, "object": keyColumn,
	"object_id": keyColumn, "anonymized_key": keyColumn, "lbn": keyColumn, "lba": keyColumn, "block": keyColumn, "url": keyColumn,
	"size": sizeColumn, "obj_size": sizeColumn, "object_size": sizeColumn, "value_size": sizeColumn, "bytes": sizeColumn,
	"time": timeColumn, "timestamp": timeColumn, "clock_time": timeColumn, "ts": timeColumn,
	"ttl": ttlColumn,
}

// csvParser parses delimited text. The first line gives the names of the
// columns, or their number does: key; key, size; time, key, size. The delimiter
// is the first of tab, semicolon and comma that the first line contains.
// Keys may be any text; sizes are bytes, times and TTLs seconds.
type csvParser struct {
	columns   []column
	delimiter byte
	started   bool
	named     bool // the columns were given by name, not found
	fields    [][]byte
	clock     clock
}

// newCSVParser returns a parser for columns such as "time,key,size", where "-"
// stands for one to ignore, or for columns to be found when it is empty.
func newCSVParser(columns string) (*csvParser, error) {
	p := &csvParser{}
	if columns == "" {
		return p, nil
	}
	for name := range strings.SplitSeq(columns, ",") {
		meaning, ok := columnNames[columnName([]byte(name))]
		if !ok && name != "-" {
			return nil, fmt.Errorf("%w \"csv:%s\": column %q: expected key, size, time, ttl or -", ErrFormat, columns, name)
		}
		p.columns = append(p.columns, meaning)
	}
	p.named = true
	return p, p.checkColumns()
}

func columnName(field []byte) string {
	name := strings.ToLower(strings.Trim(string(field), "# \t\""))
	return strings.NewReplacer(" ", "_", "-", "_").Replace(name)
}

// checkColumns wants one column of keys and none twice.
func (p *csvParser) checkColumns() error {
	var seen [ttlColumn + 1]int
	for _, c := range p.columns {
		seen[c]++
	}
	if seen[keyColumn] == 0 {
		return fmt.Errorf("%w: csv without a column of keys", ErrFormat)
	}
	for c := keyColumn; c <= ttlColumn; c++ {
		if seen[c] > 1 {
			return fmt.Errorf("%w: csv with two columns for one meaning: name them with csv:COLUMN,...", ErrFormat)
		}
	}
	return nil
}

func (p *csvParser) parse(line []byte) (Request, uint64, error) {
	if len(line) == 0 {
		return Request{}, 0, nil
	}
	if !p.started {
		p.started = true
		if header, err := p.start(line); header || err != nil {
			return Request{}, 0, err
		}
	}
	if err := p.split(line); err != nil {
		return Request{}, 0, err
	}
	if len(p.fields) != len(p.columns) {
		return Request{}, 0, fmt.Errorf("expected %d fields, found %d", len(p.columns), len(p.fields))
	}
	r, err := p.request()
	return r, 1, err
}

// start looks at the first line, and tells whether it is a header.
func (p *csvParser) start(line []byte) (header bool, err error) {
	p.delimiter = ','
	for _, d := range []byte("\t;,") {
		if bytes.IndexByte(line, d) >= 0 {
			p.delimiter = d
			break
		}
	}
	if err := p.split(line); err != nil {
		return false, err
	}
	var found []column
	for _, field := range p.fields {
		meaning := columnNames[columnName(field)]
		header = header || meaning != ignored
		found = append(found, meaning)
	}
	switch {
	case p.named:
	case header:
		p.columns = found
	case len(p.fields) > 3:
		return false, fmt.Errorf("%d columns and no header: name them with -format csv:COLUMN,... (key, size, time, ttl, - to ignore)", len(p.fields))
	default:
		p.columns = [][]column{{keyColumn}, {keyColumn, sizeColumn}, {timeColumn, keyColumn, sizeColumn}}[len(p.fields)-1]
	}
	return header, p.checkColumns()
}

// split cuts line into p.fields. Quoted fields must end on their line.
func (p *csvParser) split(line []byte) error {
	p.fields = p.fields[:0]
	if bytes.IndexByte(line, '"') < 0 {
		for field := range bytes.SplitSeq(line, []byte{p.delimiter}) {
			p.fields = append(p.fields, bytes.TrimSpace(field))
		}
		return nil
	}
	r := csv.NewReader(bytes.NewReader(line))
	r.Comma = rune(p.delimiter)
	r.TrimLeadingSpace = true
	fields, err := r.Read()
	if parse, ok := errors.AsType[*csv.ParseError](err); ok {
		return parse.Err // without its own idea of the line
	}
	if err != nil {
		return err
	}
	for _, field := range fields {
		p.fields = append(p.fields, []byte(field))
	}
	return nil
}

// request makes a request of p.fields.
func (p *csvParser) request() (r Request, err error) {
	for i, meaning := range p.columns {
		field := p.fields[i]
		switch meaning {
		case keyColumn:
			r.Key = hashBytes(field)
		case timeColumn:
			r.Time, err = p.clock.parse(field)
		case sizeColumn:
			var size uint64
			size, err = parseUint("size", field, math.MaxUint32)
			r.Size = uint32(size)
		case ttlColumn:
			r.TTL, err = parseSeconds(field)
		}
		if err != nil {
			return Request{}, err
		}
	}
	return r, nil
}

// parseSeconds parses a TTL, rounded up so that a short one does not become none.
func parseSeconds(field []byte) (uint32, error) {
	v, err := strconv.ParseFloat(string(field), 64)
	if err != nil || !(v >= 0) || v > math.MaxUint32 {
		return 0, fmt.Errorf("TTL: expected seconds, 0 to %d, found %s", uint32(math.MaxUint32), quote(field))
	}
	return uint32(math.Ceil(v)), nil
}
