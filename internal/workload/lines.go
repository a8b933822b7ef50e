package workload

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxLine is the longest line of a text format, in bytes.
const maxLine = 64 << 10

// lineParser turns a line without its end into count requests for consecutive
// keys, of which it returns the first. A count of 0 skips the line. The line is
// lent for the call.
type lineParser func(line []byte) (first Request, count uint64, err error)

// textDecoder reads requests that are written as lines.
type textDecoder struct {
	r     *bufio.Reader // its buffer bounds a line
	parse lineParser

	line, offset int64 // of the line read last
	next         int64 // offset of the line after it

	run  Request // next request of the line read last
	left uint64  // how many requests of that line remain
	err  error   // the end of the lines, once it is known
}

func (d *textDecoder) Read(dst []Request) (int, error) {
	n := 0
	for n < len(dst) {
		if d.left == 0 && !d.advance() {
			break
		}
		for d.left > 0 && n < len(dst) {
			dst[n] = d.run
			d.run.Key++
			d.left--
			n++
		}
	}
	if n > 0 {
		return n, nil
	}
	return 0, d.err
}

// advance parses lines up to the next that holds requests, and tells whether
// there is one.
func (d *textDecoder) advance() bool {
	for d.err == nil && d.left == 0 {
		line, err := d.readLine()
		if err != nil {
			d.err = err
			break
		}
		if d.run, d.left, err = d.parse(line); err != nil {
			d.left = 0
			d.err = &placeError{line: d.line, offset: d.offset, err: err}
		}
	}
	return d.left > 0
}

func (d *textDecoder) readLine() ([]byte, error) {
	line, err := d.r.ReadSlice('\n')
	d.line++
	d.offset = d.next
	d.next += int64(len(line))
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return nil, &placeError{line: d.line, offset: d.offset, err: fmt.Errorf("line longer than %d bytes", maxLine)}
	case errors.Is(err, io.EOF) && len(line) > 0: // the last line, without its end
	case err != nil:
		return nil, err
	}
	if d.line == 1 {
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")) // a byte order mark
	}
	return bytes.TrimSpace(line), nil
}

// newDecoder returns the decoder of a format by its name, as Open takes it.
func newDecoder(format string, r *bufio.Reader) (decoder, error) {
	name, columns, hasColumns := strings.Cut(format, ":")
	name = strings.ToLower(name)
	if hasColumns && name != formatCSV {
		return nil, fmt.Errorf("%w %q: only csv takes columns", ErrFormat, format)
	}
	switch name {
	case formatTRC:
		return newRecordDecoder(r, trcSize, decodeTRC), nil
	case formatOracle:
		return newRecordDecoder(r, oracleSize, decodeOracle), nil
	case formatARC:
		return &textDecoder{r: r, parse: parseARC}, nil
	case formatLIRS:
		return &textDecoder{r: r, parse: parseLIRS}, nil
	case formatTwitter:
		return &textDecoder{r: r, parse: new(twitterParser).parse}, nil
	case formatCSV:
		parser, err := newCSVParser(columns)
		if err != nil {
			return nil, err
		}
		return &textDecoder{r: r, parse: parser.parse}, nil
	}
	return nil, fmt.Errorf("%w %q: expected one of %s", ErrFormat, format, strings.Join(Formats(), ", "))
}
