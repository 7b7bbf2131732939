package gotest

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gmpscope/gmpscope/analyze/histogram"
	"github.com/gmpscope/gmpscope/analyze/sidecar"
	"github.com/gmpscope/gmpscope/internal/jsondoc"
)

const (
	sampleEvery  = 10 * time.Millisecond
	maxSamples   = 1 << 16 // beyond that they are taken half as often
	maxProcesses = 20      // that are looked at
	maxDelay     = int64(10 * time.Second)
)

// sampler looks at what the kernel counts of a process. On systems without Linux's /proc it sees nothing.
type sampler struct {
	proc      string
	process   *sidecar.Process
	threads   map[string]counted // by thread
	throttled int64
	every     time.Duration
	samples   []sample
}

type counted struct{ cpu, delay int64 }

func newSampler(pid int) *sampler {
	s := &sampler{
		proc: filepath.Join("/proc", strconv.Itoa(pid)), process: sidecar.NewProcess("/", strconv.Itoa(pid)),
		threads: map[string]counted{}, every: sampleEvery,
	}
	c, _ := s.process.Count()
	s.throttled = c.ThrottledNs
	return s
}

// until samples until ended has an error, which it returns.
func (s *sampler) until(ended <-chan error) error {
	runtime.LockOSThread() // for good: where it may, its thread goes before those that are watched
	raisePriority()
	s.look()
	for {
		select {
		case err := <-ended:
			return err
		case <-time.After(s.every):
			s.look()
		}
	}
}

// look adds a sample.
func (s *sampler) look() {
	x := sample{Stopped: stopped(s.proc)}
	threads := make(map[string]counted, len(s.threads))
	processes := []string{s.proc}
	for i := 0; i < len(processes) && i < maxProcesses; i++ {
		entries, err := os.ReadDir(filepath.Join(processes[i], "task"))
		if err != nil {
			continue
		}
		for _, e := range entries {
			task := filepath.Join(processes[i], "task", e.Name())
			c, ok := schedstat(filepath.Join(task, "schedstat"))
			if !ok {
				continue
			}
			was := s.threads[e.Name()]
			threads[e.Name()] = c
			x.CPU += c.cpu - was.cpu
			if c.delay > was.delay {
				x.Delays = append(x.Delays, c.delay-was.delay)
			}
			if i > 0 {
				x.Child += c.cpu - was.cpu + c.delay - was.delay
			}
			children, _ := os.ReadFile(filepath.Join(task, "children"))
			for _, pid := range strings.Fields(string(children)) {
				processes = append(processes, filepath.Join("/proc", pid))
			}
		}
	}
	s.threads = threads
	if c, ok := s.process.Count(); ok {
		x.Throttled, s.throttled = c.ThrottledNs-s.throttled, c.ThrottledNs
	}
	x.At = time.Now().UnixNano()
	if s.samples = append(s.samples, x); len(s.samples) == maxSamples {
		s.halve()
	}
}

// halve puts each two samples together, and has half as many taken from now on.
func (s *sampler) halve() {
	s.samples = histogram.Halve(s.samples, func(x, y sample) sample {
		y.CPU += x.CPU
		y.Child += x.Child
		y.Throttled += x.Throttled
		y.Stopped = y.Stopped || x.Stopped
		y.Delays = append(x.Delays, y.Delays...)
		return y
	})
	s.every *= 2
}

// schedstat reads how long a thread had a CPU, and how long it waited for one, ns.
func schedstat(file string) (c counted, ok bool) {
	text, err := os.ReadFile(file)
	f := strings.Fields(string(text))
	if err != nil || len(f) != 3 {
		return c, false
	}
	cpu, err1 := strconv.ParseInt(f[0], 10, 64)
	delay, err2 := strconv.ParseInt(f[1], 10, 64)
	return counted{cpu, delay}, err1 == nil && err2 == nil
}

// stopped reports whether a signal has stopped a process.
func stopped(proc string) bool {
	text, _ := os.ReadFile(filepath.Join(proc, "stat"))
	name := bytes.LastIndex(text, []byte(") "))
	return name >= 0 && bytes.HasPrefix(text[name:], []byte(") T"))
}

// Machine is the CPU time that a process got and lacked during an interval. Times are ns.
type Machine struct {
	Counted             bool  // by the kernel; if not, the rest is not known
	jsondoc.TestMachine       // CPUNs is that of processes that it started, too
	PausedNs            int64 // time in which neither the process nor gmpscope, which watches it, ran, and both resumed together
	childNs             int64 // processes that it started had or wanted a CPU
	delays              []span
	pauses              []span // what PausedNs may be made of
}

// between returns what was counted from one time to another, ns since 1970. What a thread waited for is
// counted when it has the CPU again: it is taken to have waited right before.
func between(samples []sample, every, from, to int64) (m Machine) {
	first, _ := slices.BinarySearchFunc(samples, from, func(x sample, at int64) int { return cmp.Compare(x.At, at) })
	for i := first; i < len(samples) && samples[i].At < to+maxDelay; i++ {
		x := &samples[i]
		delays := int64(0)
		for _, ns := range x.Delays {
			delays += ns
			if d := (span{max(x.At-ns, from), min(x.At, to)}); d.from < d.to {
				m.delays = append(m.delays, d)
				m.DelayNs += d.to - d.from
				m.LongestNs = max(m.LongestNs, d.to-d.from)
			}
		}
		if i == 0 {
			continue
		}
		since := samples[i-1].At
		a, b := max(since, from), min(x.At, to)
		if a >= b {
			continue
		}
		m.Counted = true
		share := float64(b-a) / float64(x.At-since)
		m.CPUNs += int64(share * float64(x.CPU))
		m.childNs += int64(share * float64(x.Child))
		m.ThrottledNs += int64(share * float64(x.Throttled))
		switch whole := x.At - since; {
		case x.Stopped:
			m.StoppedNs += b - a
		case whole > every+longLack && x.CPU+delays < whole/10:
			m.pauses = append(m.pauses, span{a, b})
		}
	}
	return m
}

// lateness returns for how long a thread had waited for a CPU right before a time, ns since 1970, at most:
// a timer may have been late by that.
func (m *Machine) lateness(at int64) (late int64) {
	for _, d := range m.delays {
		if d.from < at && at <= d.to+int64(time.Millisecond) {
			late = max(late, min(at, d.to)-d.from)
		}
	}
	return late
}
