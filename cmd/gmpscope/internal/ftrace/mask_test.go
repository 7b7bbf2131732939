package ftrace

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestCPUMask(t *testing.T) {
	proc := t.TempDir()
	for name, status := range map[string]string{
		"1/task/1": "Name:\tx\nCpus_allowed:\t00000000,00000003\nCpus_allowed_list:\t0-1\n",
		"2/task/2": "Name:\tx\nCpus_allowed:\t1\n",
		"2/task/3": "Name:\tx\nCpus_allowed:\t8\n",
		"3/task/3": "Cpus_allowed:\t10,00000000,00000001\n",
		"4/task/4": "Cpus_allowed:\tnone\n",
		"5/task/5": "Name:\tx\n",
	} {
		dir := filepath.Join(proc, name)
		if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "status"), []byte(status), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		process, mask string
		fails         bool
	}{
		{process: "1", mask: "3"},
		{process: "2", mask: "9"}, // of both threads
		{process: "3", mask: "10,00000000,00000001"},
		{process: "4", fails: true},
		{process: "5", fails: true},
	} {
		if got, err := cpuMask(proc, c.process); got != c.mask || (err != nil) != c.fails || errors.Is(err, ErrNoProcess) {
			t.Errorf("process %s: %q, %v; want %q", c.process, got, err, c.mask)
		}
	}
	if got, err := cpuMask(proc, "6"); !errors.Is(err, ErrNoProcess) {
		t.Errorf("no process: %q, %v", got, err)
	}
}
