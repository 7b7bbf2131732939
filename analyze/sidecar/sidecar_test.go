package sidecar

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The file is in two modules.
func TestSameInCapture(t *testing.T) {
	ours, err := os.ReadFile("sidecar.go")
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := os.ReadFile("../../capture/internal/sidecar/sidecar.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(ours, theirs) {
		t.Error("capture/internal/sidecar/sidecar.go differs: copy the one that you changed")
	}
}

// put makes files below a folder.
func put(t *testing.T, files map[string]string) (root string) {
	t.Helper()
	root = t.TempDir()
	for name, text := range files {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestNewProcess(t *testing.T) {
	const (
		status = "Name:\tserver\nCpus_allowed:\t13\nCpus_allowed_list:\t0-1,4\n"
		v1     = "32 31 0:29 / /cg/cpu rw - cgroup cgroup rw,cpu,cpuacct\n35 31 0:32 / /cg/memory rw - cgroup cgroup rw,memory\n"
		v2     = "30 23 0:26 / /cg rw,nosuid - cgroup2 cgroup2 rw\n"
	)
	for name, tc := range map[string]struct {
		files map[string]string
		want  Process
		count Counted
	}{
		"version 2": {
			map[string]string{
				"proc/7/status": status, "proc/7/cgroup": "0::/a/b\n", "proc/7/mountinfo": v2,
				"cg/a/b/cpu.max": "max 100000\n", "cg/a/cpu.max": "50000 100000\n", "cg/a/b/memory.max": "max\n", "cg/a/memory.max": "4096\n",
				"cg/a/cpu.stat":                 "usage_usec 9\nnr_periods 5\nnr_throttled 2\nthrottled_usec 70\n",
				"sys/devices/system/cpu/online": "0-3\n", "proc/cpuinfo": "processor\t: 0\nmodel name\t: A B\n", "proc/sys/kernel/random/boot_id": "secret\n",
			},
			Process{Host: &Host{CPU: "A B", CPUs: 4, Boot: "2bb80d537b1da3e3"}, CPUs: 3, MemoryMax: 4096, stat: "cg/a/cpu.stat", quota: Quota{CPUs: 0.5, PeriodNs: 100_000_000}},
			Counted{Periods: 5, Throttled: 2, ThrottledNs: 70_000},
		},
		"version 1": {
			map[string]string{
				"proc/7/status": status, "proc/7/cgroup": "4:memory:/x\n1:cpu,cpuacct:/a\n0::/\n", "proc/7/mountinfo": v2 + v1,
				"cg/cpu/a/cpu.cfs_quota_us": "150000\n", "cg/cpu/a/cpu.cfs_period_us": "50000\n", "cg/cpu/cpu.cfs_quota_us": "-1\n",
				"cg/cpu/a/cpu.stat":                 "nr_periods 5\nnr_throttled 2\nthrottled_time 70\n",
				"cg/memory/x/memory.limit_in_bytes": "9223372036854771712\n",
			},
			Process{CPUs: 3, stat: "cg/cpu/a/cpu.stat", quota: Quota{CPUs: 3, PeriodNs: 50_000_000}},
			Counted{Periods: 5, Throttled: 2, ThrottledNs: 70},
		},
		"a container's namespace": {
			map[string]string{
				"proc/7/status": status, "proc/7/cgroup": "1:cpu:/docker/1\n", "proc/7/mountinfo": "32 31 0:29 /docker/1 /cg ro - cgroup cgroup rw,cpu\n",
				"cg/cpu.cfs_quota_us": "20000\n", "cg/cpu.cfs_period_us": "100000\n",
			},
			Process{CPUs: 3, stat: "cg/cpu.stat", quota: Quota{CPUs: 0.2, PeriodNs: 100_000_000}},
			Counted{},
		},
		"no quota":  {map[string]string{"proc/7/cgroup": "0::/\n", "proc/7/mountinfo": v2, "cg/cpu.max": "max 100000\n"}, Process{}, Counted{}},
		"odd files": {map[string]string{"proc/7/status": "Cpus_allowed_list:\t0-x\n", "proc/7/cgroup": ":::\n0::/a\n", "proc/7/mountinfo": "x - y\n" + v2, "cg/a/cpu.max": "-5 0\n"}, Process{}, Counted{}},
		"no files":  {nil, Process{}, Counted{}},
	} {
		root := put(t, tc.files)
		p := NewProcess(root, "7")
		got, ok := p.Count()
		if rel, err := filepath.Rel(root, p.stat); err == nil {
			p.stat = filepath.ToSlash(rel)
		}
		got.AtNs = 0
		if !cmp.Equal(p.Host, tc.want.Host) {
			t.Errorf("%s: host %+v", name, p.Host)
		}
		if p.Host = tc.want.Host; *p != tc.want || ok != (p.stat != "") || got != tc.count {
			t.Errorf("%s: %+v counted %+v, want %+v and %+v", name, *p, got, tc.want, tc.count)
		}
	}
}

// The name of a process may look like the end of it.
func TestCPUTime(t *testing.T) {
	root := put(t, map[string]string{
		"proc/stat":   "cpu  100 20 30 9999 88 4 5 77 1 2\ncpu0 1 1 1 1 1 1 1 1 1 1\n",
		"proc/7/stat": "7 (a) b (c)) S 1 7 7 0 -1 4194560 1 2 3 4 6 7 8 9 20 0 1 0 5\n",
	})
	u := CPUTime(root, "7")
	if u.BusyNs != 1_590_000_000 || u.OwnNs != 300_000_000 {
		t.Errorf("%+v", u)
	}
	if d := u.Since(Use{u.Ns - 1e9, 90_000_000, 100_000_000}); d == nil || *d != (Use{1e9, 1_500_000_000, 200_000_000}) || d.Others() != 1.3 {
		t.Errorf("%+v", d)
	}
	if d := CPUTime(t.TempDir(), "7").Since(Use{}); d != nil {
		t.Errorf("%+v of no files", d)
	}
}

func TestRead(t *testing.T) {
	const at = 1_700_000_000_000_000_000
	full := &Meta{
		Version: Version, Time: "2026-01-02T03:04:05Z", GoVersion: "go1.26.8", GOOS: "linux", GOARCH: "amd64", GOMAXPROCS: 4, CPUs: 2,
		Quota: &Quota{CPUs: 0.4, PeriodNs: 100_000_000, Before: Counted{AtNs: at, Periods: 3}, After: Counted{AtNs: at + 1e9, Periods: 13, Throttled: 8, ThrottledNs: 310}},
		Host:  &Host{CPU: "A", CPUs: 4, Boot: "12", Use: &Use{Ns: 9, BusyNs: 8, OwnNs: 7}},
		Build: &Build{Module: "example.com/a"}, Labels: map[string]string{"service": "a"},
	}
	text, err := json.Marshal(full)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		text string
		want *Meta
		err  string
	}{
		"full":       {string(text), full, ""},
		"least":      {`{"version": 1, "more": []}`, &Meta{Version: 1}, ""},
		"version":    {`{"version": 2}`, nil, "version is 2"},
		"no JSON":    {"secret", nil, "not as docs/schema/meta.json says"},
		"wrong type": {`{"version": 1, "labels": "secret"}`, nil, "not as docs/schema/meta.json says"},
		"too long":   {strings.Repeat(" ", maxBytes) + `{"version": 1}`, nil, "more than 1048576 bytes"},
		"long label": {`{"version": 1, "labels": {"a": "` + strings.Repeat("x", 2000) + `"}}`, nil, "more than 1024 bytes"},
		"no quota":   {`{"version": 1, "cpu_quota": {"cpus": -1, "period_ns": 1}}`, nil, "quota is out of range"},
		"odd use":    {`{"version": 1, "host": {"use": {"ns": 1, "busy_ns": 1, "own_ns": 2}}}`, nil, "host is out of range"},
		"backwards":  {`{"version": 1, "cpu_quota": {"cpus": 1, "period_ns": 1, "before": {"periods": 3}}}`, nil, "backwards"},
	} {
		root := put(t, map[string]string{"a.trace.gz.meta.json": tc.text})
		got, err := Read(t.Context(), filepath.Join(root, "a.trace.gz"))
		if tc.err == "" && err != nil || tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)) || !cmp.Equal(got, tc.want) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if got, err := Read(t.Context(), filepath.Join(t.TempDir(), "none")); got != nil || err != nil {
		t.Error(got, err)
	}
	if c := full.Quota.Counted(); c.Periods != 10 || c.Throttled != 8 || full.Quota.Ns() != 1e9 || full.HadCPUs() != 0.4 {
		t.Errorf("%+v", c)
	}
	if a := full.Anonymous(); a.Build != nil || a.Labels != nil || a.Quota == nil || a.Host.Boot != "" || full.Host.Boot == "" || full.Build == nil {
		t.Errorf("%+v", a)
	}
}
