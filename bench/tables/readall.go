package tables

import (
	"bytes"
	"fmt"
	"io"

	"github.com/firncache/firn/bufpool"
)

// ReadAll writes what reading 10 KiB costs, and where io.ReadAll spends its time.
func ReadAll(w io.Writer) error {
	body := make([]byte, 10<<10)
	ways := []way{
		{"io.ReadAll", func() { read(io.ReadAll(bytes.NewReader(body))) }},
		{"bytes.Buffer.ReadFrom", func() {
			var b bytes.Buffer
			_, err := b.ReadFrom(bytes.NewReader(body))
			read(b.Bytes(), err)
		}},
		{"io.ReadFull, the length known", func() {
			b := make([]byte, len(body))
			_, err := io.ReadFull(bytes.NewReader(body), b)
			read(b, err)
		}},
		{"bufpool.ReadAll, the length known", func() {
			b, err := bufpool.ReadAll(bytes.NewReader(body), int64(len(body)))
			read(b.Bytes(), err)
			b.Release()
		}},
	}
	if err := compare(w, 1, "10 KiB", ways); err != nil {
		return err
	}
	_, top, err := measure(ways[0].do)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\nWhere io.ReadAll is, in percent of the time, and all beside it:\n\n")
	for _, f := range top[:min(len(top), 12)] {
		fmt.Fprintf(w, "    %5.1f  %s\n", f.percent, f.name)
	}
	return nil
}

// read adds a byte of what was read, so that nothing is left out.
func read(b []byte, err error) {
	if err != nil {
		panic(err) // of memory: there is none
	}
	sum += int(b[0])
}
