package vfs

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// On Linux, memory that outlives the process is a segment of System V shared memory:
// the kernel keeps it, with no process attached, until it is removed. Its first page
// says which directory it belongs to, and is not part of Memory.Bytes.
//
// A segment has no name that others could take before: its MemoryID stands in the directory,
// and the directory's identity in the segment, so that a copied directory does not find it.
// What a process left that was killed before it could write down the MemoryID is found by
// its first page. Only a process that is killed before that is written, microseconds after
// the creation, leaves a segment that stays; no page of it has been touched, so it occupies
// nearly nothing.
//
// What ends the memory besides: the end of the IPC namespace, which a container has
// for itself, and systemd-logind, which removes the segments of a user who is no
// system user at his last logout (RemoveIPC). The next process then finds none.

const (
	segmentMagic  = "firnmem\x01" // the last byte is the version
	segmentHeader = len(segmentMagic) + 4*8
	shmDest       = 0o1000 // of the mode: the segment goes when the last process detaches it
)

// errNoSegment says that there is no segment, or that it is not ours.
var errNoSegment = fmt.Errorf("%w here", fs.ErrNotExist)

// header is the beginning of the first page of a directory's segment. A process that looks
// for a segment knows all of it, or all but the key: it needs no checksum.
func (d directory) header(key uint64, size int) []byte {
	b := append(make([]byte, 0, segmentHeader), segmentMagic...)
	for _, v := range []uint64{key, d.dev, d.ino, uint64(size)} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return b
}

// newSegment makes a segment, attached, with its first page.
func (d directory) newSegment(size int64) (id MemoryID, segment []byte, err error) {
	page := os.Getpagesize()
	if size > int64(math.MaxInt-page) {
		return id, nil, unix.ENOMEM
	}
	if endsWithProcess() {
		return id, nil, errors.New("kernel.shm_rmid_forced is set: memory goes with the last process that has it")
	}
	// Without SHM_NORESERVE the kernel accounts for all of it now: that there is not so much
	// memory is an error here, and no SIGBUS at some store later.
	handle, err := unix.SysvShmGet(unix.IPC_PRIVATE, page+int(size), unix.IPC_CREAT|0o600)
	if err != nil {
		return id, nil, os.NewSyscallError("shmget", err)
	}
	segment, err = unix.SysvShmAttach(handle, 0, 0)
	if err != nil {
		return id, nil, errors.Join(os.NewSyscallError("shmat", err), removeSegment(handle))
	}
	id = MemoryID{Handle: uint64(handle), Key: randomKey()}
	copy(segment, d.header(id.Key, len(segment)))
	d.notePlace(segment)
	return id, segment, nil
}

// attach attaches the directory's segment of this ID, and says how many processes
// have it attached with this one.
func (d directory) attach(id MemoryID, flag int) (segment []byte, attached int, err error) {
	if id.Key == 0 || id.Handle > math.MaxInt32 {
		return nil, 0, errNoSegment
	}
	segment, attached, err = attachSegment(int(id.Handle), flag)
	if err == nil && !bytes.HasPrefix(segment, d.header(id.Key, len(segment))) {
		_ = unix.SysvShmDetach(segment)
		err = errNoSegment
	}
	return segment, attached, err
}

// has reports whether a segment with this first page is the directory's.
func (d directory) has(page []byte) bool {
	key, size := binary.LittleEndian.Uint64(page[len(segmentMagic):]), binary.LittleEndian.Uint64(page[segmentHeader-8:])
	return bytes.HasPrefix(page, d.header(key, int(size)))
}

// attachSegment attaches a segment that this user has made, with a first page as ours have;
// with SHM_RDONLY that of any user. Of one that is not ours only the header is read.
func attachSegment(handle, flag int) (segment []byte, attached int, err error) {
	if _, err := statSegment(handle, flag); err != nil {
		return nil, 0, err
	}
	segment, err = unix.SysvShmAttach(handle, 0, flag)
	if err != nil {
		return nil, 0, errNoSegment
	}
	// From here on the handle stands for no other segment than this.
	attached, err = statSegment(handle, flag)
	if err == nil && !bytes.HasPrefix(segment, []byte(segmentMagic)) {
		err = errNoSegment
	}
	if err != nil {
		_ = unix.SysvShmDetach(segment)
		return nil, 0, err
	}
	return segment, attached, nil
}

// statSegment makes sure that a segment has been made by this user for himself, with
// SHM_RDONLY by any, and by its size for memory, and has not been removed. It says how many
// have it attached.
func statSegment(handle, flag int) (attached int, err error) {
	var st unix.SysvShmDesc
	if _, err := unix.SysvShmCtl(handle, unix.IPC_STAT, &st); err != nil {
		return 0, errNoSegment
	}
	me := uint32(os.Geteuid())
	if flag&unix.SHM_RDONLY != 0 {
		me = st.Perm.Uid
	}
	if st.Perm.Uid != me || st.Perm.Cuid != me || st.Perm.Mode&(shmDest|0o777) != 0o600 || int(st.Segsz) <= os.Getpagesize() {
		return 0, errNoSegment
	}
	return int(st.Nattch), nil
}

// removeSegment removes a segment, which goes when the last process has detached it.
func removeSegment(handle int) error {
	_, err := unix.SysvShmCtl(handle, unix.IPC_RMID, nil)
	return os.NewSyscallError("shmctl", err)
}

// endsWithProcess reports whether the system removes segments that nobody has attached.
func endsWithProcess() bool {
	forced, err := os.ReadFile("/proc/sys/kernel/shm_rmid_forced")
	return err == nil && !bytes.HasPrefix(forced, []byte("0"))
}

func randomKey() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return max(1, binary.LittleEndian.Uint64(b[:]))
}
