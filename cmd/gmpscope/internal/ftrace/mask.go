package ftrace

import (
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
)

// cpuMask returns the CPUs that the threads of a process may run on, as a bit mask in
// the form of tracing_cpumask. proc is where procfs is mounted.
func cpuMask(proc, process string) (string, error) {
	tasks, err := filepath.Glob(filepath.Join(proc, process, "task", "*", "status"))
	if err != nil {
		return "", err
	}
	all := new(big.Int)
	for _, task := range tasks {
		status, err := os.ReadFile(task)
		if err != nil {
			continue // the thread has ended
		}
		mask, err := allowed(string(status))
		if err != nil {
			return "", fmt.Errorf("%s: %w", task, err)
		}
		all.Or(all, mask)
	}
	if all.Sign() == 0 {
		return "", ErrNoProcess
	}
	return grouped(all.Text(16)), nil
}

// allowed returns the mask in the line Cpus_allowed of a thread's status, as
// proc_pid_status(5) has it.
func allowed(status string) (*big.Int, error) {
	for line := range strings.Lines(status) {
		value, ok := strings.CutPrefix(line, "Cpus_allowed:")
		if !ok {
			continue
		}
		mask, ok := new(big.Int).SetString(strings.ReplaceAll(strings.TrimSpace(value), ",", ""), 16)
		if !ok {
			return nil, fmt.Errorf("%q is no mask of CPUs", strings.TrimSpace(value))
		}
		return mask, nil
	}
	return nil, fmt.Errorf("it has no line Cpus_allowed")
}

// grouped writes hexadecimal digits in groups of 8 from the right: the kernel reads no
// more than 32 bits at once (bitmap_parse).
func grouped(digits string) string {
	var groups []string
	for len(digits) > 8 {
		groups = append([]string{digits[len(digits)-8:]}, groups...)
		digits = digits[:len(digits)-8]
	}
	return strings.Join(append([]string{digits}, groups...), ",")
}
