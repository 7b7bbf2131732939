//go:build unix

package files

import (
	"io/fs"
	"syscall"
)

// inode returns the device and the inode of a file, by which equal files are found.
func inode(st fs.FileInfo) (id [2]uint64) {
	if sys, ok := st.Sys().(*syscall.Stat_t); ok {
		id = [2]uint64{uint64(sys.Dev), uint64(sys.Ino)}
	}
	return id
}

// owner returns the user and the group of a file.
func owner(st fs.FileInfo) (uid, gid int, ok bool) {
	sys, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return int(sys.Uid), int(sys.Gid), true
}
