package workload

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
)

// Open opens the trace at path. The format is one of [Formats], or csv with
// columns ("csv:time,key,size"), or empty to detect it by name and content.
// Compression is always detected by content.
//
// Errors about the file's content are *TraceErrors; an unknown format name is
// an ErrFormat; the others are those of the file system.
func Open(path, format string) (Source, error) { return OpenAs(path, path, format) }

// OpenAs is Open, and calls the trace name in errors about its content.
func OpenAs(name, path, format string) (Source, error) {
	if err := CheckFormat(format); err != nil {
		return nil, err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && info.IsDir() {
		err = &fs.PathError{Op: "read", Path: path, Err: errors.New("is a directory, not a trace")}
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return newTrace(file, info.Size(), name, format)
}

// decoder turns the bytes of a trace into requests, with the contract of
// Source.Read except for errors, which are *placeErrors.
type decoder interface {
	Read(dst []Request) (int, error)
}

// placeError is an error and its place in the decompressed bytes.
type placeError struct {
	line, offset int64
	err          error
}

func (e *placeError) Error() string { return e.err.Error() }

// trace is a Source that reads a file.
type trace struct {
	decoder
	path, format string
	file         io.Closer
	size         int64
	position     *countingReader // the file as stored
	content      *content        // its decompressed bytes
}

// newTrace reads the beginning of file, which has size bytes, and returns its
// source. The source owns file; with an error, file is closed.
func newTrace(file io.ReadCloser, size int64, path, format string) (Source, error) {
	t := &trace{path: path, format: format, file: file, size: size, position: &countingReader{r: file}}
	if err := t.start(); err != nil {
		err = t.wrap(err)
		t.Close()
		return nil, err
	}
	return t, nil
}

// start settles compression and format.
func (t *trace) start() (err error) {
	if t.content, err = decompress(t.position, t.path); err != nil {
		return err
	}
	buffered := bufio.NewReaderSize(t.content, maxLine)
	if err = t.detect(buffered); err != nil {
		return err
	}
	t.decoder, err = newDecoder(t.format, buffered)
	return err
}

// detect settles the format by the first bytes of the content.
func (t *trace) detect(buffered *bufio.Reader) error {
	head, err := buffered.Peek(detectBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if len(head) == 0 {
		return &placeError{err: errors.New("the trace is empty")}
	}
	if t.format != "" {
		return nil
	}
	t.format, err = detectFormat(t.path, head, len(head) < detectBytes)
	return err
}

func (t *trace) Read(dst []Request) (int, error) {
	n, err := t.decoder.Read(dst)
	if err != nil && !errors.Is(err, io.EOF) {
		err = t.wrap(err)
	}
	return n, err
}

// wrap turns errors with a place into TraceErrors and leaves others alone.
func (t *trace) wrap(err error) error {
	place, ok := errors.AsType[*placeError](err)
	if !ok {
		return err
	}
	return &TraceError{
		Path: t.path, Format: t.format, Line: place.line, Offset: place.offset,
		Compressed: t.content != nil && t.content.compression != "", Err: place.err,
	}
}

func (t *trace) Done() float64 {
	if t.size <= 0 {
		return 0
	}
	return min(float64(t.position.n)/float64(t.size), 1)
}

// Close also lets go of the memory of decoding.
func (t *trace) Close() error {
	if t.content != nil {
		t.content.close()
		t.content, t.decoder = nil, nil
	}
	return t.file.Close()
}

// countingReader counts the bytes read through it.
type countingReader struct {
	r io.Reader
	n int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}
