//go:build unix

package vfs

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

const noFollow = syscall.O_NOFOLLOW

// checkOwner refuses files that are neither this user's nor root's.
func checkOwner(info os.FileInfo) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if me := os.Geteuid(); ok && int(st.Uid) != me && st.Uid != 0 {
		return fmt.Errorf("%w: it is user %d's; want user %d's or root's", fs.ErrPermission, st.Uid, me)
	}
	return nil
}

// checkMode refuses a directory in which everybody may make files: sticky or not,
// somebody could make ours before we do. Its group is trusted, as whoever shares a
// volume with us is.
func checkMode(mode os.FileMode) error {
	if mode.Perm()&0o002 != 0 {
		return fmt.Errorf("its mode is %04o, so everybody may write there: name a subdirectory, or chmod o-w (%w)", mode.Perm(), fs.ErrPermission)
	}
	return nil
}
