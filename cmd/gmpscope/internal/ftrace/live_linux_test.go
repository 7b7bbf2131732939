package ftrace

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// canRecord skips a test where tracefs cannot be written to.
func canRecord(t *testing.T) tracefs {
	t.Helper()
	fsys, err := find(places)
	if err != nil {
		t.Skip(err)
	}
	dir := filepath.Join(fsys.root, "instances", fmt.Sprintf("gmpscope-test-%d", os.Getpid()))
	if err := fsys.mkdir(dir); err != nil {
		t.Skip(err)
	}
	if err := fsys.remove(dir); err != nil {
		t.Fatal(err)
	}
	return fsys
}

// monotonic is the time of CLOCK_MONOTONIC, in ns.
func monotonic(t *testing.T) int64 {
	t.Helper()
	var ts syscall.Timespec
	const clockMonotonic = 1
	if _, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&ts)), 0); errno != 0 {
		t.Fatal(errno)
	}
	return ts.Nano()
}

// switchLine is a line of sched_switch with the process of who had the CPU.
var switchLine = regexp.MustCompile(`^ *.+-\d+ +\([ \d-]+\) \[\d+\] \S+ +(\d+)\.(\d{6}): sched_switch: prev_comm=.* prev_pid=(\d+) .* ==> next_comm=.* next_pid=(\d+) `)

// TestLive records this thread, which sleeps: its switches are there, at times of
// CLOCK_MONOTONIC, and what was made for that is gone.
func TestLive(t *testing.T) {
	fsys := canRecord(t)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var out bytes.Buffer
	r, err := Start(&out, Options{PID: os.Getpid()})
	if err != nil {
		t.Fatal(err)
	}
	begin, sleep := monotonic(t), syscall.NsecToTimespec(int64(20*time.Millisecond))
	_ = syscall.Nanosleep(&sleep, nil)
	end := monotonic(t)
	stats, err := r.Stop()
	if err != nil || stats.Left != nil || stats.Bytes != int64(out.Len()) {
		t.Fatalf("%+v, %v; %d bytes", stats, err, out.Len())
	}
	tid, away, back := strconv.Itoa(syscall.Gettid()), false, false
	for l := range strings.Lines(out.String()) {
		m := switchLine.FindStringSubmatch(l)
		if m == nil {
			if strings.Contains(l, "sched_switch: ") {
				t.Errorf("not as it should be: %s", l)
			}
			continue
		}
		s, _ := strconv.ParseInt(m[1], 10, 64)
		us, _ := strconv.ParseInt(m[2], 10, 64)
		if at := s*1e9 + us*1e3; begin/1e3*1e3 <= at && at <= end {
			away, back = away || m[3] == tid, back || m[4] == tid
		}
	}
	if !away || !back {
		t.Errorf("between %d and %d ns, thread %s is switched away: %v, back: %v, in\n%s", begin, end, tid, away, back, out.String())
	}
	if _, err := os.Stat(fsys.instance(os.Getpid())); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the instance is still there: %v", err)
	}
}
