//go:build linux

package stress

import (
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// source is where the values of loaded keys come from: numbers in a file that all processes
// have mapped, and which no fault reaches.
type source struct{ bytes []byte }

const sourceUnits = units - firstLoad

func openSource(path string) (*source, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := f.Truncate(8 * sourceUnits); err != nil {
		return nil, err
	}
	b, err := unix.Mmap(int(f.Fd()), 0, 8*sourceUnits, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	return &source{b}, err
}

// of is the number of a key, or of the tag that it has.
func (s *source) of(unit uint32) *atomic.Int64 {
	return (*atomic.Int64)(unsafe.Pointer(&s.bytes[8*(unit-firstLoad)]))
}
