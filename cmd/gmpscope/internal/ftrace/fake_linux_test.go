package ftrace

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// fakeHeader is what the kernel says in an instance that has recorded nothing.
const fakeHeader = "# tracer: nop\n#\n# entries-in-buffer/entries-written: 0/0   #P:2\n"

// fake is a folder that looks like tracefs. Of the files in an instance, trace_pipe is a
// named pipe, and so gives what is written to it, and no more.
type fake struct {
	t    *testing.T
	root string
	miss string // a file that instances have not
	busy int    // how often an instance cannot be removed yet
}

func newFake(t *testing.T) *fake {
	t.Helper()
	f := &fake{t: t, root: t.TempDir()}
	if err := os.Mkdir(filepath.Join(f.root, "instances"), 0o700); err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *fake) fs() tracefs { return tracefs{root: f.root, mkdir: f.mkdir, rmdir: f.rmdir} }

func (f *fake) mkdir(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	controls := []string{"trace_clock", "buffer_size_kb", "tracing_cpumask", "tracing_on", "options/record-tgid"}
	for _, event := range events {
		controls = append(controls, "events/sched/"+event+"/enable")
	}
	content := map[string]string{"trace": fakeHeader + "what is no comment\n"}
	for cpu, stats := range []string{"entries: 3\noverrun: 5\ncommit overrun: 9\ndropped events: 2\n", "overrun: 1\n"} {
		content[fmt.Sprintf("per_cpu/cpu%d/stats", cpu)] = stats
	}
	for _, name := range controls {
		content[name] = ""
	}
	delete(content, f.miss)
	for name, text := range content {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			f.t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "trace_pipe"), 0o600); err != nil {
		f.t.Skip(err)
	}
	return nil
}

func (f *fake) rmdir(dir string) error {
	if f.busy > 0 {
		f.busy--
		return syscall.EBUSY
	}
	if _, err := os.Stat(dir); err != nil {
		return err
	}
	return os.RemoveAll(dir)
}

// own is the instance of this process.
func (f *fake) own() string { return f.fs().instance(os.Getpid()) }

// instances are the names of those that are there.
func (f *fake) instances() []string {
	f.t.Helper()
	dirs, err := os.ReadDir(filepath.Join(f.root, "instances"))
	if err != nil {
		f.t.Fatal(err)
	}
	var names []string
	for _, dir := range dirs {
		names = append(names, dir.Name())
	}
	return names
}

// controls returns what was written to the files of the own instance.
func (f *fake) controls() map[string]string {
	f.t.Helper()
	got := map[string]string{}
	for _, name := range []string{"trace_clock", "tracing_cpumask", "tracing_on", "options/record-tgid", "events/sched/sched_switch/enable", "events/sched/sched_waking/enable", "events/sched/sched_wakeup_new/enable"} {
		b, err := os.ReadFile(filepath.Join(f.own(), name))
		if err != nil {
			f.t.Fatal(err)
		}
		got[name] = string(b)
	}
	return got
}

// record has the kernel record a line.
func (f *fake) record(line string) {
	f.t.Helper()
	p, err := os.OpenFile(filepath.Join(f.own(), "trace_pipe"), os.O_WRONLY, 0)
	if err != nil {
		f.t.Fatal(err)
	}
	if _, err := p.WriteString(line); err != nil {
		f.t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		f.t.Fatal(err)
	}
}

func TestRecording(t *testing.T) {
	f := newFake(t)
	var out strings.Builder
	r, err := f.fs().start(&out, "3", 0)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"trace_clock": "mono", "tracing_cpumask": "3", "tracing_on": "", "options/record-tgid": "1",
		"events/sched/sched_switch/enable": "1", "events/sched/sched_waking/enable": "1", "events/sched/sched_wakeup_new/enable": "1",
	}
	if got := f.controls(); !maps.Equal(got, want) {
		t.Errorf("the instance is set to %q, want %q", got, want)
	}
	f.record("first\n")
	f.record("CPU:1 [LOST 5 EVENTS]\nsecond\n")
	f.busy = 2
	stats, err := r.Stop()
	text := fakeHeader + "# gmpscope record: trace_clock mono, tracing_cpumask 3\nfirst\nCPU:1 [LOST 5 EVENTS]\nsecond\n"
	if err != nil || out.String() != text || stats != (Stats{Bytes: int64(len(text)), Lost: 8}) {
		t.Errorf("%+v, %v, %q, want %q", stats, err, out.String(), text)
	}
	if left := f.instances(); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	if again, err := r.Stop(); again != stats || err != nil {
		t.Errorf("stopped again: %+v, %v", again, err)
	}
}

// TestMaxBytes: a recording that has no room for the next lines ends by itself.
func TestMaxBytes(t *testing.T) {
	f := newFake(t)
	var out strings.Builder
	r, err := f.fs().start(&out, "3", int64(len(fakeHeader))+200)
	if err != nil {
		t.Fatal(err)
	}
	head := out.Len()
	f.record(strings.Repeat("x", 299) + "\n")
	<-r.done
	stats, err := r.Stop()
	if err != nil || !stats.Full || out.Len() != head || stats.Bytes != int64(head) {
		t.Errorf("%+v, %v, %q", stats, err, out.String())
	}
	if left := f.instances(); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// fullDisk is a writer that has room for the header only.
type fullDisk struct{ room int }

func (d *fullDisk) Write(p []byte) (int, error) {
	if d.room -= len(p); d.room < 0 {
		return 0, syscall.ENOSPC
	}
	return len(p), nil
}

// TestFailures: whatever fails, when beginning or later, is told, and no instance stays.
func TestFailures(t *testing.T) {
	for _, miss := range []string{"trace_clock", "tracing_cpumask", "events/sched/sched_waking/enable", "trace"} {
		f := newFake(t)
		f.miss = miss
		if _, err := f.fs().start(&strings.Builder{}, "3", 0); err == nil || !strings.Contains(err.Error(), miss) {
			t.Errorf("without %s: %v", miss, err)
		}
		if left := f.instances(); len(left) > 0 {
			t.Errorf("without %s: left behind: %q", miss, left)
		}
	}
	f := newFake(t)
	f.miss = "options/record-tgid" // which is not needed
	r, err := f.fs().start(&fullDisk{room: 200}, "3", 0)
	if err != nil {
		t.Fatal(err)
	}
	f.record(strings.Repeat("x", 200) + "\n")
	<-r.done // which no Stop has asked for
	if _, err := r.Stop(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("the disk is full: %v", err)
	}
	if left := f.instances(); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	f.busy = removeTries
	if r, err = f.fs().start(&strings.Builder{}, "3", 0); err != nil {
		t.Fatal(err)
	}
	if stats, err := r.Stop(); err != nil || !errors.Is(stats.Left, syscall.EBUSY) {
		t.Errorf("somebody has the instance open: %+v, %v", stats, err)
	}
}

// panicking is a writer with a mistake.
type panicking struct{ calls int }

func (p *panicking) Write(b []byte) (int, error) {
	if p.calls++; p.calls > 1 {
		panic("a mistake")
	}
	return len(b), nil
}

func TestPanic(t *testing.T) {
	f := newFake(t)
	r := &Recording{fs: f.fs(), dir: f.own(), w: &panicking{calls: 1}, stop: make(chan struct{}), done: make(chan struct{}), pipe: -1}
	if err := errors.Join(r.create(), r.open()); err != nil {
		t.Fatal(err)
	}
	f.record("line\n")
	func() {
		defer func() {
			if recover() == nil {
				t.Error("it did not panic")
			}
		}()
		r.stream()
	}()
	if left := f.instances(); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// TestStale: what a process left that is gone, or that had our number, is removed.
func TestStale(t *testing.T) {
	f := newFake(t)
	const none = 1 << 30 // more than the kernel gives (PID_MAX_LIMIT)
	for _, dir := range []string{f.fs().instance(none), f.own(), f.fs().instance(os.Getppid()), f.root + "/instances/gmpscope-x", f.root + "/instances/other-1"} {
		if err := f.mkdir(dir); err != nil {
			t.Fatal(err)
		}
	}
	var out strings.Builder
	r, err := f.fs().start(&out, "3", 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Stop(); err != nil {
		t.Fatal(err)
	}
	want := []string{filepath.Base(f.fs().instance(os.Getppid())), "gmpscope-x", "other-1"}
	if got := f.instances(); !slices.Equal(got, want) {
		t.Errorf("instances %q, want %q", got, want)
	}
}

func TestFind(t *testing.T) {
	f := newFake(t)
	if got, err := find([]string{filepath.Join(f.root, "none"), f.root}); err != nil || got.root != f.root {
		t.Errorf("%q, %v", got.root, err)
	}
	if _, err := find([]string{filepath.Join(f.root, "none")}); err == nil || !strings.Contains(err.Error(), "sudo mount -t tracefs nodev "+f.root) {
		t.Errorf("nothing is mounted: %v", err)
	}
	for _, c := range []struct {
		err  error
		says string
	}{{syscall.EACCES, "by sudo, or record with perf"}, {syscall.EPERM, "by sudo"}, {syscall.EROFS, "outside of the container"}, {syscall.EINVAL, ""}} {
		f := tracefs{root: f.root, mkdir: func(string) error { return c.err }}
		_, err := f.start(&strings.Builder{}, "3", 0)
		if !errors.Is(err, c.err) || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: %v", c.err, err)
		}
	}
}

// TestRemoveInstances must be the last test that records: none can be begun afterwards.
func TestRemoveInstances(t *testing.T) {
	f := newFake(t)
	if _, err := f.fs().start(&strings.Builder{}, "3", 0); err != nil {
		t.Fatal(err)
	}
	RemoveInstances()
	defer live.Unlock() // which it left to the end of the program
	if left := f.instances(); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}
