// Package sidecar describes the process and the machine of a recording, in a file beside the
// trace, which cannot show them: CPU quota, CPUs, memory limits, build, labels.
//
// The package is in two modules: capture and the one that reads what it writes. A test
// holds this file the same in both.
package sidecar

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"path"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
)

// The most that labels may be.
const (
	maxLabels = 64
	maxText   = 1 << 10 // bytes of a text
)

// CheckLabels returns an error if there are too many labels, or one is too long.
func CheckLabels(labels map[string]string) error {
	if len(labels) > maxLabels {
		return fmt.Errorf("more than %d labels", maxLabels)
	}
	for name, value := range labels {
		if name == "" || len(name) > maxText || len(value) > maxText {
			return fmt.Errorf("a label has no name, or more than %d bytes", maxText)
		}
	}
	return nil
}

// Suffix is appended to the name of a trace for the name of its sidecar. Version is the number
// of the sidecar's format.
const (
	Suffix  = ".meta.json"
	Version = 1
)

// Meta is the content of a sidecar, the file beside a trace. Unknown values are absent.
type Meta struct {
	Version     int               `json:"version"`                // version of this format: 1
	Time        string            `json:"time,omitempty"`         // end of the recording, RFC 3339
	GoVersion   string            `json:"go_version,omitempty"`   // toolchain of the program, such as go1.26.8
	GOOS        string            `json:"goos,omitempty"`         // operating system
	GOARCH      string            `json:"goarch,omitempty"`       // architecture
	GOMAXPROCS  int               `json:"gomaxprocs,omitempty"`   // at the end of the recording
	CPUs        int               `json:"cpus,omitempty"`         // CPUs in the affinity mask of the process
	Quota       *Quota            `json:"cpu_quota,omitempty"`    // tightest CPU quota of the process's control group and its parents
	MemoryLimit int64             `json:"memory_limit,omitempty"` // GOMEMLIMIT, bytes
	MemoryMax   int64             `json:"memory_max,omitempty"`   // limit of the control group, bytes
	Host        *Host             `json:"host,omitempty"`         // machine on which the process ran
	Build       *Build            `json:"build,omitempty"`        // build information of the program
	Labels      map[string]string `json:"labels,omitempty"`       // given by the recorder
	Request     *SlowRequest      `json:"request,omitempty"`      // the slow request for which the trace was captured
}

// SlowRequest is a request, or other measured operation, that took too long.
type SlowRequest struct {
	Name    string `json:"name,omitempty"`     // of its task
	TraceID string `json:"trace_id,omitempty"` // of its distributed trace
	Ns      int64  `json:"ns"`                 // duration so far, when the trace was captured
	LimitNs int64  `json:"limit_ns"`           // duration from which on it is slow
}

// TraceIDKey is the category of a log message that gives a task the ID of a distributed trace.
const TraceIDKey = "trace_id"

// IsTraceID reports whether a text is the ID of a distributed trace, by W3C Trace Context: 32
// hexadecimal digits in lower case, not all 0.
func IsTraceID(id string) bool {
	return len(id) == 32 && strings.Trim(id, "0123456789abcdef") == "" && strings.Trim(id, "0") != ""
}

// Quota is a CPU quota and its use.
type Quota struct {
	CPUs     float64 `json:"cpus"`      // CPU time per period, divided by the period
	PeriodNs int64   `json:"period_ns"` // length of a period
	Before   Counted `json:"before"`    // near the beginning of the recording
	After    Counted `json:"after"`     // at its end
}

// Counted is the cpu.stat of a control group at one time: sums since its creation.
type Counted struct {
	AtNs        int64 `json:"at_ns"`        // ns since 1970
	Periods     int64 `json:"periods"`      // elapsed periods
	Throttled   int64 `json:"throttled"`    // periods in which the quota was used up
	ThrottledNs int64 `json:"throttled_ns"` // time that threads were throttled, summed over CPUs
}

// Host is the machine on which a process ran.
type Host struct {
	CPU  string `json:"cpu,omitempty"`  // model of its CPUs
	CPUs int    `json:"cpus,omitempty"` // CPUs online
	Boot string `json:"boot,omitempty"` // hash of the boot ID: equal for recordings of one machine
	Use  *Use   `json:"use,omitempty"`  // use of its CPUs during the recording; only by gmpscope record
}

// Use is the use of all CPUs over a time.
type Use struct {
	Ns     int64 `json:"ns"`      // length of that time
	BusyNs int64 `json:"busy_ns"` // CPU time of all processes
	OwnNs  int64 `json:"own_ns"`  // part of BusyNs by the recorded process and its children
}

// Build is a Go program's build information.
type Build struct {
	Path     string `json:"path,omitempty"`     // of package main
	Module   string `json:"module,omitempty"`   // main module
	Version  string `json:"version,omitempty"`  // of the main module
	Revision string `json:"revision,omitempty"` // in version control
	Modified bool   `json:"modified,omitempty"` // built with uncommitted changes
}

// Built sets Build from a program's build information.
func (m *Meta) Built(info *debug.BuildInfo) {
	b := &Build{Path: info.Path, Module: info.Main.Path, Version: info.Main.Version}
	m.GoVersion, m.Build = info.GoVersion, b
	for _, s := range info.Settings {
		switch s.Key {
		case "GOOS":
			m.GOOS = s.Value
		case "GOARCH":
			m.GOARCH = s.Value
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
}

// Process reads the limits and the quota of a process from the files of Linux; on other
// systems nothing is known.
type Process struct {
	CPUs      int   // CPUs in its affinity mask; 0 if unknown
	MemoryMax int64 // limit of its control group, in bytes; 0 if there is none, or unknown
	Host      *Host // machine on which it runs

	stat  string // the cpu.stat of the control group with the quota; "" for none
	quota Quota
}

// NewProcess returns the process with the ID pid, or with "self" the present one, by the files
// below root, normally /.
func NewProcess(root, pid string) *Process {
	p := &Process{Host: hostOf(root)}
	proc := filepath.Join(root, "proc", pid)
	p.CPUs = countList(field(filepath.Join(proc, "status"), "Cpus_allowed_list:"))
	for _, dir := range groups(root, proc, "cpu") {
		cpus, period := quotaOf(dir)
		if cpus > 0 && (p.stat == "" || cpus < p.quota.CPUs) {
			p.stat, p.quota.CPUs, p.quota.PeriodNs = filepath.Join(dir, "cpu.stat"), cpus, period
		}
	}
	for _, dir := range groups(root, proc, "memory") {
		for _, name := range [...]string{"memory.max", "memory.limit_in_bytes"} {
			// Version 1 has a number near the largest for none.
			if n := number(first(filepath.Join(dir, name))); n > 0 && n < 1<<60 && (p.MemoryMax == 0 || n < p.MemoryMax) {
				p.MemoryMax = n
			}
		}
	}
	return p
}

// hostOf returns what is known of the machine; nil for nothing.
func hostOf(root string) *Host {
	m := &Host{CPUs: countList(first(filepath.Join(root, "sys/devices/system/cpu/online")))}
	each(filepath.Join(root, "proc", "cpuinfo"), func(line string) {
		if name, value, ok := strings.Cut(line, ":"); ok && m.CPU == "" && strings.TrimSpace(name) == "model name" {
			m.CPU = strings.TrimSpace(value)
		}
	})
	if id := first(filepath.Join(root, "proc/sys/kernel/random/boot_id")); id != "" {
		sum := sha256.Sum256([]byte(id))
		m.Boot = hex.EncodeToString(sum[:8])
	}
	if *m == (Host{}) {
		return nil
	}
	return m
}

// Count returns the use of the CPU quota since the control group was created; ok is false if
// there is no quota.
func (p *Process) Count() (c Counted, ok bool) {
	if p.stat == "" {
		return c, false
	}
	c.AtNs = time.Now().UnixNano()
	c.Periods, c.Throttled = number(field(p.stat, "nr_periods")), number(field(p.stat, "nr_throttled"))
	if ns := field(p.stat, "throttled_time"); ns != "" { // version 1
		c.ThrottledNs = number(ns)
	} else {
		c.ThrottledNs = 1000 * min(number(field(p.stat, "throttled_usec")), math.MaxInt64/1000)
	}
	return c, true
}

// Meta returns the sidecar of a recording that ends now and began when before was counted.
func (p *Process) Meta(before Counted) *Meta {
	m := &Meta{Version: Version, Time: time.Now().UTC().Format(time.RFC3339Nano), CPUs: p.CPUs, MemoryMax: p.MemoryMax, Host: p.Host}
	if after, ok := p.Count(); ok {
		q := p.quota
		q.Before, q.After = before, after
		m.Quota = &q
	}
	return m
}

// groups returns the folders of the control group that a controller has for a process, and of those around
// it, as far as they can be seen: of version 1 if the controller is there, else of version 2.
func groups(root, proc, controller string) (dirs []string) {
	var of, unified string // paths within the hierarchies
	v1 := false
	each(filepath.Join(proc, "cgroup"), func(line string) {
		id, rest, _ := strings.Cut(line, ":")
		controllers, name, _ := strings.Cut(rest, ":")
		if has(controllers, controller) {
			of, v1 = name, true
		} else if id == "0" {
			unified = name
		}
	})
	if !v1 {
		of = unified
	}
	each(filepath.Join(proc, "mountinfo"), func(line string) {
		before, after, _ := strings.Cut(line, " - ")
		at, what := strings.Fields(before), strings.Fields(after)
		if len(at) < 5 || len(what) < 3 || dirs != nil {
			return
		}
		if v1 && (what[0] != "cgroup" || !has(what[2], controller)) || !v1 && what[0] != "cgroup2" {
			return
		}
		// In a container the path may be that of the host, of which nothing is mounted but the end.
		inside := "/"
		if rest, ok := strings.CutPrefix(of, strings.TrimSuffix(at[3], "/")); ok {
			inside = path.Clean("/" + rest)
		}
		for ; ; inside = path.Dir(inside) {
			dirs = append(dirs, filepath.Join(root, at[4], inside))
			if inside == "/" {
				return
			}
		}
	})
	return dirs
}

// quotaOf returns the quota of a control group, of version 2 or 1; 0 for none.
func quotaOf(dir string) (cpus float64, period int64) {
	quota, of, _ := strings.Cut(first(filepath.Join(dir, "cpu.max")), " ")
	if quota == "" {
		quota, of = first(filepath.Join(dir, "cpu.cfs_quota_us")), first(filepath.Join(dir, "cpu.cfs_period_us"))
	}
	if q, us := number(quota), number(of); q > 0 && us > 0 && us < 1<<40 {
		return float64(q) / float64(us), us * 1000
	}
	return 0, 0
}

// has reports whether a list with commas has an element.
func has(list, element string) bool { return strings.Contains(","+list+",", ","+element+",") }

// countList returns how many numbers a list such as 0-3,8 has.
func countList(list string) (n int) {
	for part := range strings.SplitSeq(list, ",") {
		from, to, ok := strings.Cut(part, "-")
		if !ok {
			to = from
		}
		a, err := strconv.Atoi(from)
		b, err2 := strconv.Atoi(to)
		if err != nil || err2 != nil || a < 0 || b < a || b > 1<<20 {
			return 0
		}
		n += b - a + 1
	}
	return n
}

// field returns what stands behind a name at the beginning of a line of a file.
func field(file, name string) (value string) {
	each(file, func(line string) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == name {
			value = f[1]
		}
	})
	return value
}

// first returns the first line of a file.
func first(file string) (text string) {
	each(file, func(line string) {
		if text == "" {
			text = line
		}
	})
	return text
}

func each(file string, line func(string)) {
	f, err := os.Open(file)
	if err != nil {
		return
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		line(s.Text())
	}
}

// number returns what a text says, 0 if it is no number that is 0 or more.
func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}
