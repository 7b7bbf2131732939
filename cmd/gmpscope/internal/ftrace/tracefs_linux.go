package ftrace

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// places are where tracefs is mounted, the usual one first.
var places = []string{"/sys/kernel/tracing", "/sys/kernel/debug/tracing"}

// tracefs is the file system by which the kernel is told what to record. In an instance
// that is made there, the kernel puts the files that control it.
type tracefs struct {
	root         string
	mkdir, rmdir func(name string) error
}

// find returns the tracefs at the first place that has one.
func find(places []string) (tracefs, error) {
	for _, place := range places {
		_, err := os.Stat(filepath.Join(place, "instances"))
		switch {
		case err == nil:
			return tracefs{root: place, mkdir: func(name string) error { return os.Mkdir(name, 0o700) }, rmdir: syscall.Rmdir}, nil
		case errors.Is(err, fs.ErrPermission):
			return tracefs{}, denied(err)
		}
	}
	return tracefs{}, fmt.Errorf("tracefs is not mounted: mount it by \"sudo mount -t tracefs nodev %s\", %s", places[0], howElse)
}

// denied adds to an error what helps if it is about permission.
func denied(err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w: run gmpscope as root, by sudo, %s", err, howElse)
	case errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w: record outside of the container, %s", err, howElse)
	}
	return err
}

// instancePrefix begins the names of our instances; the number of our process follows.
const instancePrefix = "gmpscope-"

func (t tracefs) instance(pid int) string {
	return filepath.Join(t.root, "instances", instancePrefix+strconv.Itoa(pid))
}

// create makes an instance. One that is there already was left by a process that had our
// number before; if another process is using it, the kernel does not let it go.
func (t tracefs) create(dir string) error {
	err := t.mkdir(dir)
	if errors.Is(err, fs.ErrExist) {
		if err := t.remove(dir); err != nil {
			return err
		}
		err = t.mkdir(dir)
	}
	return denied(err)
}

// removeTries is how often an instance is tried to remove that somebody has open, 10 ms
// apart.
const removeTries = 50

func (t tracefs) remove(dir string) error {
	var err error
	for range removeTries {
		if err = t.rmdir(dir); !errors.Is(err, syscall.EBUSY) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing %s: %w", dir, err)
	}
	return nil
}

// removeStale removes the instances of processes that are gone. What cannot be removed
// stays: the kernel refuses those that a process has open which this one cannot see, as
// in another pid namespace.
func (t tracefs) removeStale() {
	dirs, err := filepath.Glob(filepath.Join(t.root, "instances", instancePrefix+"*"))
	if err != nil {
		return
	}
	for _, dir := range dirs {
		pid, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(dir), instancePrefix))
		if err == nil && pid > 0 && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			_ = t.rmdir(dir)
		}
	}
}

// events are what is recorded. sched_wakeup, which follows sched_waking when the thread is
// in the run queue of a CPU, would add a third to the text, for a difference of some
// microseconds; sched_wakeup_new is the only one for a thread that never ran.
var events = []string{"sched_switch", "sched_waking", "sched_wakeup_new"}

// The kernel's buffer has room for a second or more of a CPU that switches 50,000 times a
// second, unless the machine has very many CPUs.
const (
	bufferPerCPU = 4 << 10   // KiB
	bufferTotal  = 256 << 10 // KiB
	bufferLeast  = 256       // KiB
)

// configure prepares an instance to record the CPUs in mask.
func configure(dir, mask string) error {
	buffer := max(bufferLeast, min(bufferPerCPU, bufferTotal/runtime.NumCPU()))
	for _, c := range []struct{ file, value string }{
		{"trace_clock", "mono"}, // that of the Go runtime's nanotime
		{"buffer_size_kb", strconv.Itoa(buffer)},
		{"tracing_cpumask", mask},
	} {
		if err := set(filepath.Join(dir, c.file), c.value); err != nil {
			return err
		}
	}
	// With it each line names the process of the thread that had the CPU. Linux has it since 4.13.
	err := set(filepath.Join(dir, "options", "record-tgid"), "1")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func enable(dir string) error {
	for _, event := range events {
		if err := set(filepath.Join(dir, "events", "sched", event, "enable"), "1"); err != nil {
			return err
		}
	}
	return nil
}

func set(name, value string) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return denied(err)
	}
	_, err = f.WriteString(value)
	return denied(cmp.Or(err, f.Close()))
}

// header returns the lines that stand at the beginning of the kernel's own text, which
// trace_pipe leaves out, and which clock and CPUs it is about.
func header(dir, mask string) (string, error) {
	text, err := os.ReadFile(filepath.Join(dir, "trace"))
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			b.WriteString(line)
		}
	}
	fmt.Fprintf(&b, "# gmpscope record: trace_clock mono, tracing_cpumask %s\n", mask)
	return b.String(), nil
}

func lost(dir string) (n int64) {
	files, _ := filepath.Glob(filepath.Join(dir, "per_cpu", "cpu*", "stats"))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // a CPU that was taken away
		}
		for line := range strings.Lines(string(text)) {
			name, value, _ := strings.Cut(line, ":")
			if name != "overrun" && name != "dropped events" {
				continue
			}
			if k, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64); err == nil {
				n += k
			}
		}
	}
	return n
}
