package workload

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// maxWindow bounds the memory of the zstd decoder; it is the largest window
// that the zstd tool itself accepts unless told otherwise (--long=27).
const maxWindow = 128 << 20

var (
	gzipMagic = []byte{0x1f, 0x8b}
	zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}
)

// content reads the decompressed bytes of a trace. Its errors are *placeErrors,
// never io.ErrUnexpectedEOF, so that a reader above can tell a broken
// compressed stream from a record that is cut short.
type content struct {
	compression string // "gzip", "zstd"; empty: plain
	r           io.Reader
	close       func()
	offset      int64 // bytes delivered
}

// decompress detects the compression of r by its first bytes. A name that
// promises compression must be true: otherwise the file is cut or mislabelled.
// Where the compressed data is broken, the content comes with the error.
func decompress(r io.Reader, path string) (*content, error) {
	buffered := bufio.NewReaderSize(r, 64<<10)
	head, err := buffered.Peek(len(zstdMagic))
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	c := &content{r: buffered, close: func() {}}
	switch {
	case bytes.HasPrefix(head, zstdMagic):
		c.compression = "zstd"
		decoder, err := zstd.NewReader(buffered, zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderLowmem(true))
		if err != nil {
			return c, c.broken(err)
		}
		c.r, c.close = decoder, decoder.Close
	case bytes.HasPrefix(head, gzipMagic):
		c.compression = "gzip"
		decoder, err := gzip.NewReader(buffered)
		if err != nil {
			return c, c.broken(err)
		}
		c.r = decoder
	case strings.HasSuffix(path, ".zst"), strings.HasSuffix(path, ".gz"):
		return nil, &placeError{err: fmt.Errorf(
			"the name promises compression, but the content begins with % x, neither gzip (% x) nor zstd (% x)",
			head, gzipMagic, zstdMagic)}
	}
	return c, nil
}

func (c *content) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.offset += int64(n)
	if err != nil && !errors.Is(err, io.EOF) && c.compression != "" {
		err = c.broken(err)
	}
	return n, err
}

// broken places an error of the compressed stream behind the last good byte.
func (c *content) broken(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		err = errors.New("the file ends early")
	}
	return &placeError{offset: c.offset, err: fmt.Errorf("broken %s data: %w", c.compression, err)}
}
