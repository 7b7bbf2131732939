package capture

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gmpscope/gmpscope/capture/internal/sidecar"
)

// stamp is the time in a file's name, in UTC: unless the clock is put back, names
// sort by time.
const stamp = "20060102T150405.000000Z"

// The ends of names: of traces, and of those that are not complete.
const (
	suffix     = ".trace"
	unfinished = ".tmp"
)

// file is one that create made.
type file struct {
	path   string
	number uint64 // counts the files of a name; unlike the time, it only grows
	bytes  int64
}

// write writes a trace to a file of its own, which appears under its name only
// when it is complete and the oldest that would be too many are gone.
func (r *Recorder) write(now time.Time, data []byte, about *sidecar.SlowRequest) (name string, err error) {
	if int64(len(data)) > r.o.MaxBytes {
		return "", fmt.Errorf("capture: the trace has %d bytes, more than MaxBytes, %d: nothing was written", len(data), r.o.MaxBytes)
	}
	if err = r.o.createDir(); err == nil { // somebody may have removed it
		name, err = r.o.create(now, data, r.meta(now, about))
	}
	if err != nil {
		return "", fmt.Errorf("capture: writing a trace: %w", err)
	}
	return name, nil
}

func (o *Options) createDir() error {
	if err := os.MkdirAll(o.Dir, 0o777); err != nil {
		return fmt.Errorf("creating the folder for traces: %w", err)
	}
	return nil
}

func (o *Options) create(now time.Time, data []byte, m *sidecar.Meta) (name string, err error) {
	// A program that was killed left these: we write one at a time, and programs that
	// share a folder use different names.
	left, err := o.list(unfinished)
	if err != nil {
		return "", err
	}
	for _, f := range left {
		os.Remove(strings.TrimSuffix(f.path, unfinished) + suffix + sidecar.Suffix)
	}
	if err := removeAll(left); err != nil {
		return "", err
	}
	old, err := o.list(suffix)
	if err != nil {
		return "", err
	}
	number := uint64(1)
	if len(old) > 0 {
		number += old[0].number
	}
	name = filepath.Join(o.Dir, fmt.Sprintf("%s-%s-%d", o.Name, now.UTC().Format(stamp), number))
	f, err := os.OpenFile(name+unfinished, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	_, err = f.Write(data)
	if err = cmp.Or(err, f.Close()); err != nil {
		return "", err
	}
	if err := removeAll(o.tooMany(old, int64(len(data)))); err != nil {
		return "", err
	}
	// It is there before the trace is, for who waits for that.
	writeMeta(name+suffix, m)
	if err := os.Rename(f.Name(), name+suffix); err != nil {
		os.Remove(name + suffix + sidecar.Suffix)
		return "", err
	}
	return name + suffix, nil
}

// list returns the files in the folder that create made, the last one first.
func (o *Options) list(suffix string) (files []file, err error) {
	entries, err := os.ReadDir(o.Dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		number, ok := o.owns(e.Name(), suffix)
		if !ok || !e.Type().IsRegular() {
			continue
		}
		if info, err := e.Info(); err == nil { // or it was just removed
			files = append(files, file{filepath.Join(o.Dir, e.Name()), number, info.Size()})
		}
	}
	slices.SortFunc(files, func(a, b file) int { return cmp.Compare(b.number, a.number) })
	return files, nil
}

// tooMany returns the oldest of the traces, which cannot stay beside another one of
// so many bytes.
func (o *Options) tooMany(files []file, bytes int64) []file {
	for i, f := range files {
		bytes += f.bytes
		if i+1 >= o.MaxFiles || bytes > o.MaxBytes {
			return files[i:]
		}
	}
	return nil
}

func removeAll(files []file) error {
	for _, f := range files {
		os.Remove(f.path + sidecar.Suffix) // not all have one
		if err := os.Remove(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("making room for it: %w", err)
		}
	}
	return nil
}

// owns reports whether a file has a name that create gives, and which number.
func (o *Options) owns(name, suffix string) (number uint64, ok bool) {
	rest, isOurs := strings.CutPrefix(name, o.Name+"-")
	rest, isKind := strings.CutSuffix(rest, suffix)
	at, digits, _ := strings.Cut(rest, "-")
	_, badTime := time.Parse(stamp, at)
	number, badNumber := strconv.ParseUint(digits, 10, 64)
	return number, isOurs && isKind && badTime == nil && badNumber == nil
}

// plainName reports whether a name is safe as part of a file's name.
func plainName(s string) bool {
	return s != "" && len(s) <= 100 && !strings.ContainsFunc(s, func(c rune) bool {
		return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_')
	})
}
