package capture

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// stamp is the time in a file's name, in UTC: names sort by time.
const stamp = "20060102T150405.000000Z"

// suffix ends the names of traces.
const suffix = ".trace"

// write writes a trace to a file of its own, which appears under its name only
// when it is complete, and removes old ones that are too many.
func (r *Recorder) write(now time.Time, data []byte) (name string, err error) {
	if int64(len(data)) > r.o.MaxBytes {
		return "", fmt.Errorf("capture: the trace has %d bytes, more than MaxBytes, %d: nothing was written", len(data), r.o.MaxBytes)
	}
	if name, err = r.create(now, data); err == nil {
		err = r.prune()
	}
	if err != nil {
		return "", fmt.Errorf("capture: writing a trace: %w", err)
	}
	return name, nil
}

func (r *Recorder) create(now time.Time, data []byte) (name string, err error) {
	f, err := os.CreateTemp(r.o.Dir, r.o.Name+"-"+now.UTC().Format(stamp)+"-*.tmp")
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	_, err = f.Write(data)
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return "", err
	}
	name = strings.TrimSuffix(f.Name(), ".tmp") + suffix
	return name, os.Rename(f.Name(), name)
}

// prune removes the oldest traces until the others are within the limits.
func (r *Recorder) prune() error {
	entries, err := os.ReadDir(r.o.Dir)
	if err != nil {
		return err
	}
	slices.Reverse(entries) // newest first
	files, bytes := 0, int64(0)
	for _, e := range entries {
		if !e.Type().IsRegular() || !r.o.owns(e.Name()) {
			continue
		}
		info, err := e.Info()
		if err != nil {
			continue // removed by somebody else
		}
		files++
		bytes += info.Size()
		if files <= r.o.MaxFiles && bytes <= r.o.MaxBytes {
			continue
		}
		if err := os.Remove(filepath.Join(r.o.Dir, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("removing an old one: %w", err)
		}
	}
	return nil
}

// owns reports whether a file has a name that create gives.
func (o *Options) owns(name string) bool {
	rest, ok := strings.CutPrefix(name, o.Name+"-")
	if !ok {
		return false
	}
	if rest, ok = strings.CutSuffix(rest, suffix); !ok {
		return false
	}
	at, number, ok := strings.Cut(rest, "-")
	if !ok || number == "" || strings.Trim(number, "0123456789") != "" {
		return false
	}
	_, err := time.Parse(stamp, at)
	return err == nil
}

// plainName reports whether a name is safe as part of a file's name.
func plainName(s string) bool {
	for _, c := range s {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_':
		default:
			return false
		}
	}
	return s != "" && len(s) <= 100
}
