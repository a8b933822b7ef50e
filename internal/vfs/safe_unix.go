//go:build unix

package vfs

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

const noFollow = syscall.O_NOFOLLOW

// checkOwner refuses what is neither this user's nor root's.
func checkOwner(info os.FileInfo) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if me := os.Geteuid(); ok && int(st.Uid) != me && st.Uid != 0 {
		return fmt.Errorf("%w: it is user %d's; want user %d's or root's", fs.ErrPermission, st.Uid, me)
	}
	return nil
}

// checkMode refuses a directory in which others may remove and replace files.
func checkMode(mode os.FileMode) error {
	if mode.Perm()&0o022 != 0 && mode&os.ModeSticky == 0 {
		return fmt.Errorf("%w: its mode is %04o: others may write there; want 0700, or a new directory in it", fs.ErrPermission, mode.Perm())
	}
	return nil
}
