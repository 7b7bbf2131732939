package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// ErrDirectory is the error for an output whose name is that of a directory.
var ErrDirectory = errors.New("is a directory")

// An Output is a file that is written next to its target, and takes its place
// when it is complete. What is no regular file, such as a device or a pipe, is
// written to directly.
type Output struct {
	w      io.Writer
	file   *os.File // nil if w is no file of ours
	name   string   // as the user gave it
	what   string   // what the guard's messages call it
	target string   // what is created or replaced: name, with links followed
	temp   string   // what has the content until Commit; "" if written directly
	old    fs.FileInfo
	apart  bool // temp is in another folder: the target's lets nobody create one
	guard  *Guard
	id     ID
}

// To returns an Output that writes to w directly.
func To(w io.Writer) *Output { return &Output{w: w} }

// Create begins an output of that name, which a flag or something else names to the user. The end
// of the context ends the wait for the reader of a named pipe. What the context's guard knows as an
// input, or as an output, is a [Conflict].
func Create(ctx context.Context, flag, name string) (*Output, error) {
	o := &Output{name: name, target: resolve(name)}
	st, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, o.failed(err)
	case st.IsDir():
		return nil, o.failed(ErrDirectory)
	case !st.Mode().IsRegular():
		if o.file, err = open(ctx, name, os.O_WRONLY); err != nil {
			return nil, o.failed(err)
		}
		o.w = o.file
		return o, nil
	default:
		o.old = st
		if !Named(o.target).Same(ID{file: st}) {
			o.target = name // such as /proc/self/fd/3, whose text need not be a path
		}
	}
	return o.begin(ctx, flag)
}

// CreateIn begins an output in a folder that the user named. The file itself was not named, so a
// link in its place is replaced and not followed, and what is neither file nor link is left alone.
func CreateIn(ctx context.Context, flag, dir, base string) (*Output, error) {
	name := filepath.Join(dir, base)
	o := &Output{name: name, target: name}
	st, err := os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, o.failed(err)
	case st.IsDir():
		return nil, o.failed(ErrDirectory)
	case st.Mode().IsRegular():
		o.old = st
	case st.Mode().Type() != fs.ModeSymlink:
		return nil, o.failed(ErrSpecial)
	}
	return o.begin(ctx, flag)
}

// begin declares the output to the guard and creates its temporary file.
func (o *Output) begin(ctx context.Context, flag string) (*Output, error) {
	o.guard, o.what, o.id = guardOf(ctx), flag+" "+o.name, Named(o.name)
	if err := o.guard.writes(o.what, o.id); err != nil {
		return nil, err
	}
	dir, _ := split(o.target)
	if err := o.temporary(dir); err != nil && (o.old == nil || o.elsewhere() != nil) {
		o.guard.written(o.id)
		return nil, o.failed(err)
	}
	o.w = o.file
	return o, nil
}

// elsewhere begins an output whose target can be written to, though its folder
// cannot.
func (o *Output) elsewhere() error {
	f, err := os.OpenFile(o.target, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	o.apart = true
	return o.temporary(os.TempDir() + string(os.PathSeparator))
}

// pending are the temporary files and folders. Who holds its lock creates one or gives one
// its name: a signal does not end the program in the middle of that.
var pending = struct {
	sync.Mutex
	files map[string]bool
}{files: map[string]bool{}}

// temporary creates the temporary file, in dir, which ends in a separator. Its
// name does not grow with that of the target, which may be as long as names can
// be. O_EXCL follows no link and shares no file with another process.
func (o *Output) temporary(dir string) error {
	perm := fs.FileMode(0o666) // less the umask, as of any new file
	if o.old != nil {
		perm = 0o600 // until it has all that the old one has
	}
	pending.Lock()
	defer pending.Unlock()
	for {
		name := dir + ".gmpscope-" + strconv.FormatUint(rand.Uint64(), 36) + ".tmp"
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return err
		}
		o.file, o.temp = f, name
		pending.files[name] = true
		return nil
	}
}

// TempFolder makes a folder for temporary files, to be removed by RemoveTempFolder.
func TempFolder(prefix string) (string, error) {
	pending.Lock()
	defer pending.Unlock()
	name, err := os.MkdirTemp("", prefix)
	if err == nil {
		pending.files[name] = true
	}
	return name, err
}

// RemoveTempFolder removes a folder that [TempFolder] made, with all that is in it.
func RemoveTempFolder(name string) error {
	pending.Lock()
	defer pending.Unlock()
	delete(pending.files, name)
	return os.RemoveAll(name)
}

// RemoveTemporaries removes the temporary files of all outputs, and temporary folders, for a
// program that is about to end. An output that is being given its name gets it first.
// No other can be begun afterwards.
func RemoveTemporaries() {
	pending.Lock() // for good
	for name := range pending.files {
		os.RemoveAll(name)
	}
}

// Path returns the file that holds the output until Commit, for another program
// to write; direct reports whether that is the target itself.
func (o *Output) Path() (path string, direct bool) {
	if o.temp == "" {
		return o.name, true
	}
	return o.temp, false
}

// Write implements io.Writer. Errors name the file as the user does.
func (o *Output) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	if err != nil && o.file != nil {
		err = o.failed(err)
	}
	return n, err
}

// Commit ends the output and gives it its name, unless that became an input meanwhile. If it
// fails for a complete output, that is kept, and the error says where.
func (o *Output) Commit() error {
	return o.commit(func() error {
		if err := o.guard.unread(o.what, Named(o.target)); err != nil {
			os.Remove(o.temp)
			return err
		}
		return o.kept(o.replace())
	})
}

// CommitIf is Commit, but a file that has the name stays unless the output is good enough to replace
// it: else the output gets a name beside that. It returns the name.
func (o *Output) CommitIf(good func() bool) (name string, err error) {
	if _, err := os.Stat(o.target); errors.Is(err, fs.ErrNotExist) || o.temp == "" || good() {
		return o.name, o.Commit()
	}
	name = o.name
	return name, o.commit(func() (err error) {
		name, err = o.beside()
		return o.kept(err)
	})
}

// commit closes the output, and has give give the temporary file its name, if there is one.
func (o *Output) commit(give func() error) error {
	if o.file == nil {
		return nil
	}
	if o.temp != "" && o.old != nil && !o.apart {
		// Some file systems know no owners and permissions; the output is worth more.
		if uid, gid, ok := owner(o.old); ok && o.file.Chown(uid, gid) != nil {
			_ = o.file.Chown(-1, gid)
		}
		_ = o.file.Chmod(o.old.Mode().Perm())
	}
	err := o.file.Close()
	o.file = nil
	if err != nil {
		return o.failed(err)
	}
	if o.temp == "" {
		return nil
	}
	pending.Lock()
	defer pending.Unlock()
	err = give()
	delete(pending.files, o.temp)
	o.temp = ""
	o.guard.written(o.id)
	return err
}

// kept reports where an output is that got no name.
func (o *Output) kept(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("writing %s: %w; what should be in it is in %s", o.name, reason(err), o.temp)
}

// beside gives the temporary file the first name beside that of the output that is free, such as
// trace.part.out, trace.part-2.out.
func (o *Output) beside() (name string, err error) {
	if o.apart {
		return o.name, fs.ErrPermission
	}
	dir, base := split(o.target)
	ext := filepath.Ext(base)
	for i := 1; ; i++ {
		part := ".part"
		if i > 1 {
			part += "-" + strconv.Itoa(i)
		}
		name = dir + strings.TrimSuffix(base, ext) + part + ext
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return o.name, err
		}
		f.Close()
		if err = os.Rename(o.temp, name); err != nil {
			os.Remove(name)
		}
		return filepath.Clean(name), err
	}
}

// replace puts the temporary file in the target's place, or, where that may not
// be replaced, as the target of a mount, its content into the target.
func (o *Output) replace() error {
	if !o.apart {
		err := os.Rename(o.temp, o.target)
		if err == nil || o.old == nil {
			return err
		}
	}
	if err := overwrite(o.target, o.temp); err != nil {
		return err
	}
	os.Remove(o.temp) // the output is complete without it
	return nil
}

// overwrite gives a file the content of another. What lies beyond its present
// end is written first: if the disk has no room for it, all is as it was.
func overwrite(target, source string) (err error) {
	src, err := os.Open(source)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.OpenFile(target, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dst.Close()) }()
	from, err := src.Stat()
	if err != nil {
		return err
	}
	to, err := dst.Stat()
	if err != nil {
		return err
	}
	size, end := from.Size(), to.Size()
	if size > end {
		if err := copyAt(dst, src, end, size); err != nil {
			return errors.Join(err, dst.Truncate(end))
		}
	}
	if err := copyAt(dst, src, 0, min(size, end)); err != nil {
		return err
	}
	return dst.Truncate(size)
}

// copyAt copies the bytes from one offset to another.
func copyAt(dst io.WriterAt, src io.ReaderAt, from, to int64) error {
	_, err := io.Copy(io.NewOffsetWriter(dst, from), io.NewSectionReader(src, from, to-from))
	return err
}

// Discard removes what was not committed. After Commit it does nothing.
func (o *Output) Discard() {
	if o.file != nil {
		o.file.Close()
		o.file = nil
	}
	if o.temp == "" {
		return
	}
	pending.Lock()
	defer pending.Unlock()
	os.Remove(o.temp)
	delete(pending.files, o.temp)
	o.temp = ""
	o.guard.written(o.id)
}

func (o *Output) failed(err error) error { return fmt.Errorf("writing %s: %w", o.name, reason(err)) }

// reason is an error without the names of temporary files.
func reason(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}
