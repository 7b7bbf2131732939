package files

import (
	"io/fs"
	"os"
	"path/filepath"
)

// An ID reports whether two files are the same, whatever they are called. That of
// a file that is not there is its folder and its name in it.
type ID struct {
	file fs.FileInfo // nil if it is not there
	dir  fs.FileInfo // then
	base string
}

// Named returns the ID of the file that has, or would get, that name.
func Named(name string) ID {
	if st, err := os.Stat(name); err == nil {
		return ID{file: st}
	}
	dir, base := split(resolve(name))
	st, err := os.Stat(dir)
	if err != nil {
		return ID{}
	}
	return ID{dir: st, base: base}
}

// Opened returns the ID of a stream: of an *os.File that of the file, else one
// that is like no other.
func Opened(stream any) ID {
	f, ok := stream.(interface{ Stat() (fs.FileInfo, error) })
	if !ok {
		return ID{}
	}
	st, err := f.Stat()
	if err != nil {
		return ID{}
	}
	return ID{file: st}
}

// Same reports whether a write to one changes the content of the other. Devices
// and pipes have no content that could be lost.
func (id ID) Same(other ID) bool {
	switch {
	case id.file != nil && other.file != nil:
		return id.file.Mode().IsRegular() && os.SameFile(id.file, other.file)
	case id.dir != nil && other.dir != nil:
		return id.base == other.base && os.SameFile(id.dir, other.dir)
	}
	return false
}

// bucket is equal for IDs of the same file.
type bucket struct {
	inode [2]uint64
	base  string
}

func (id ID) bucket() bucket {
	switch {
	case id.file != nil:
		return bucket{inode(id.file), ""}
	case id.dir != nil:
		return bucket{inode(id.dir), id.base}
	}
	return bucket{}
}

// maxLinks is how many symbolic links are followed; Linux follows 40.
const maxLinks = 40

// resolve follows name where it is a symbolic link, also one to a file that is
// not there yet. Folders in it stay as they are: "link/.." is not ".".
func resolve(name string) string {
	for range maxLinks {
		to, err := os.Readlink(name)
		if err != nil {
			break
		}
		if !filepath.IsAbs(to) {
			dir, _ := filepath.Split(name)
			to = dir + to
		}
		name = to
	}
	return name
}

// split cuts a path behind its folder.
func split(name string) (dir, base string) {
	dir, base = filepath.Split(name)
	if dir == "" {
		dir = "." + string(filepath.Separator)
	}
	return dir, base
}
