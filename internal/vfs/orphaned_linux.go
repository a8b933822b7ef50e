package vfs

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// A segment whose directory has been deleted would stay until the machine goes down, as no
// process opens the directory again. So the first page also says, behind its header, where
// the last process found the directory. A process that makes memory scans for what is lost:
// segments that no process has attached, and whose directory is no longer there. It removes
// only what it can judge: the mount on which the directory was is the one that is there
// now, by a number that no other mount ever has, and the directory has gone from it.

// notePlace notes in the first page where the directory is.
func (d directory) notePlace(segment []byte) {
	page := segment[segmentHeader:os.Getpagesize()]
	mount, _ := mountOf(d.path)
	place := binary.LittleEndian.AppendUint64(nil, mount)
	place = binary.LittleEndian.AppendUint64(place, rootNumber())
	place = binary.LittleEndian.AppendUint16(place, uint16(len(d.path)))
	place = append(place, d.path...)
	if len(place) > len(page) {
		clear(page) // no process can judge whether it is lost
		return
	}
	copy(page, place)
}

// lost reports whether the directory of a segment with this first page is no longer where it
// was.
func lost(page []byte) bool {
	const fixed = 18 // bytes before the path
	place := page[segmentHeader:]
	mount, root := binary.LittleEndian.Uint64(place), binary.LittleEndian.Uint64(place[8:])
	length := int(binary.LittleEndian.Uint16(place[16:]))
	if mount == 0 || root != rootNumber() || length == 0 || length > len(place)-fixed {
		return false
	}
	path := string(place[fixed : fixed+length])
	if d, err := osFS(path).directory(); err == nil && d.has(page) {
		return false
	}
	for ; ; path = filepath.Dir(path) { // up to what there is
		if there, err := mountOf(path); !errors.Is(err, fs.ErrNotExist) || path == filepath.Dir(path) {
			return err == nil && there == mount
		}
	}
}

// mountOf is the number of the mount that a path leads to, 0 if the system gives none that
// stays that of this mount alone: before Linux 6.8.
func mountOf(path string) (number uint64, err error) {
	var st unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, path, 0, unix.STATX_MNT_ID_UNIQUE, &st); err != nil {
		return 0, err
	}
	if st.Mask&unix.STATX_MNT_ID_UNIQUE == 0 {
		return 0, nil
	}
	return st.Mnt_id, nil
}

// rootNumber tells the root directory of this process, where paths begin, from that of one
// that was confined to a part of the same mount.
func rootNumber() uint64 {
	var st unix.Stat_t
	_ = unix.Stat("/", &st)
	return st.Ino
}

// isLost is lost, but in tests.
var isLost = lost

// scanning is set while a scan is under way. One that waits for a disk for ever is the last.
var scanning atomic.Bool

// scanForLost begins to remove this user's segments that are lost, in the background: it looks
// at other directories, and may wait for their disks for ever.
func scanForLost() {
	if !scanning.CompareAndSwap(false, true) {
		return
	}
	judge := isLost
	go func() {
		defer scanning.Store(false)
		removeLeft(judge)
	}()
}

// removeLeft removes those of this user's segments that no process has attached and that judge
// says, by their first pages, are to go. None is attached while judge looks.
func removeLeft(judge func(page []byte) bool) {
	table, err := os.ReadFile("/proc/sysvipc/shm")
	if err != nil {
		return
	}
	for line := range strings.Lines(string(table)) {
		handle, ok := ofThisUser(strings.Fields(line))
		if !ok {
			continue
		}
		var first []byte
		withUnattached(handle, func(page []byte) { first = bytes.Clone(page) })
		if first == nil || !judge(first) {
			continue
		}
		withUnattached(handle, func(page []byte) {
			if bytes.Equal(page, first) { // otherwise a process has had it meanwhile
				_ = removeSegment(handle)
			}
		})
	}
}

// looking is held while a removeLeft has a segment attached, which another would take for one
// in use.
var looking sync.Mutex

// withUnattached calls f with the first page of a segment of this user's, if no process has
// that attached.
func withUnattached(handle int, f func(page []byte)) {
	looking.Lock()
	defer looking.Unlock()
	if attached, err := statSegment(handle, 0); err != nil || attached > 0 {
		return
	}
	segment, attached, err := attachSegment(handle, 0)
	if err != nil {
		return
	}
	if attached == 1 {
		f(segment[:os.Getpagesize()])
	}
	_ = unix.SysvShmDetach(segment)
}

// ofThisUser is the handle in a line of the system's table, if the line is of a segment that
// this user has made for himself.
func ofThisUser(line []string) (handle int, ok bool) {
	const handleColumn, modeColumn, userColumn = 1, 2, 7
	if len(line) <= userColumn || line[modeColumn] != "600" || line[userColumn] != strconv.Itoa(os.Geteuid()) {
		return 0, false
	}
	handle, err := strconv.Atoi(line[handleColumn])
	return handle, err == nil
}
