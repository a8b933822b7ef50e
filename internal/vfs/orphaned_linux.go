package vfs

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// A segment whose directory has been deleted would stay until the machine goes down:
// nobody opens the directory again. So the first page also says, behind its header,
// where the last process found the directory, and whoever makes memory removes what is
// lost: what no process has attached, and whose directory is no longer there. A
// directory that was moved or unmounted meanwhile loses its memory by that, which a
// power cut could take as well.

// notePlace notes in the first page where the directory is: the mount namespace, in
// which a container has paths of its own, and the path.
func (d directory) notePlace(segment []byte) {
	page := segment[segmentHeader:os.Getpagesize()]
	place := binary.LittleEndian.AppendUint64(nil, mountNamespace())
	place = binary.LittleEndian.AppendUint16(place, uint16(len(d.path)))
	place = append(place, d.path...)
	if len(place) > len(page) {
		clear(page) // nobody can tell whether it is lost
		return
	}
	copy(page, place)
}

// lost reports whether the directory of a segment is no longer where it was. What is
// in another mount namespace is never lost.
func lost(segment []byte) bool {
	page := segment[segmentHeader:os.Getpagesize()]
	namespace, length := binary.LittleEndian.Uint64(page), int(binary.LittleEndian.Uint16(page[8:]))
	if namespace == 0 || namespace != mountNamespace() || length == 0 || length > len(page)-10 {
		return false
	}
	d, err := osFS(page[10 : 10+length]).directory()
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	return string(d.header(keyOf(segment), segment)) != string(segment[:segmentHeader])
}

// mountNamespace is the number of this process's mount namespace, 0 if it is not known.
func mountNamespace() uint64 {
	var st unix.Stat_t
	if err := unix.Stat("/proc/self/ns/mnt", &st); err != nil {
		return 0
	}
	return st.Ino
}

// removeLost removes this user's segments that are lost.
func removeLost() {
	table, err := os.ReadFile("/proc/sysvipc/shm")
	if err != nil {
		return
	}
	for line := range strings.Lines(string(table)) {
		handle, ok := unattached(strings.Fields(line))
		if !ok {
			continue
		}
		segment, attached, err := attachOwn(handle, unix.SHM_RDONLY)
		if err != nil {
			continue
		}
		// A process may have attached it meanwhile, and be writing in its first page, or have
		// detached it again: the second look at the page sees that.
		if attached == 1 && lost(segment) && onlyHere(handle) && lost(segment) {
			_ = removeSegment(handle)
		}
		_ = unix.SysvShmDetach(segment)
	}
}

// onlyHere reports whether this process alone has a segment attached.
func onlyHere(handle int) bool {
	attached, err := statOwn(handle)
	return err == nil && attached == 1
}

// unattached is the handle in a line of the system's table, if the line is of a segment
// of this user that no process has attached.
func unattached(line []string) (handle int, ok bool) {
	const handleColumn, modeColumn, attachedColumn, userColumn = 1, 2, 6, 7
	if len(line) <= userColumn || line[modeColumn] != "600" || line[attachedColumn] != "0" || line[userColumn] != strconv.Itoa(os.Geteuid()) {
		return 0, false
	}
	handle, err := strconv.Atoi(line[handleColumn])
	return handle, err == nil
}
