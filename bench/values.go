package main

import (
	"bytes"
	"fmt"

	"github.com/firncache/firn/bench/keys"
	"github.com/firncache/firn/bench/rivals"
)

// valuesBudget is the size of the cache that large values are put in, in
// bytes.
const valuesBudget = 32 << 20

// valueSizes are the large values' sizes, in bytes.
var valueSizes = []int{300 << 10, 1 << 20}

// runValues fills half of a small cache with large values and tells how many
// of them can be read back.
func runValues(j job, out *emitter) error {
	r, err := rivals.Find(j.Rival)
	if err != nil {
		return err
	}
	for _, size := range valueSizes {
		c, err := r.Open(rivals.Config{KeySize: keys.Size, ValueSize: size, Bytes: valuesBudget})
		if err != nil {
			return fmt.Errorf("open %s: %w", j.Rival, err)
		}
		s := j.measure("readable", 0, "%", nil)
		s.Name = fmt.Sprintf("readable/value=%d", size)
		s.Ops = int64(valuesBudget / 2 / size)
		var readable int
		readable, s.Refused = readBack(c, int(s.Ops), size)
		s.Value = percent(readable, int(s.Ops))
		out.emit(s)
		c.Close()
	}
	return nil
}

// readBack stores count values of the given size, each different, and returns
// how many of them can be read afterwards and how many the cache refused.
func readBack(c rivals.Cache, count, size int) (readable int, refused int64) {
	var key, buf []byte
	value := makeValue(size)
	for i := range count {
		key, value[0] = keys.Append(key[:0], uint64(i)), byte(i)
		if !c.Set(key, value) {
			refused++
		}
		c.Wait()
	}
	for i := range count {
		key, value[0] = keys.Append(key[:0], uint64(i)), byte(i)
		if v, ok := c.Get(buf[:0], key); ok && bytes.Equal(v, value) {
			readable++
		}
	}
	return readable, refused
}
