package guard

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// unlimited is less than what any system says for no limit, and more than any
// machine has.
const unlimited = 1 << 60

// limit says what limits the memory of this process, or "" if nothing does. root
// holds the files of the system.
func limit(root fs.FS) string {
	for _, l := range []struct {
		resource int
		what     string
	}{
		{syscall.RLIMIT_AS, "ulimit -v allows %d MiB of address space"},
		{syscall.RLIMIT_DATA, "ulimit -d allows %d MiB of data"},
	} {
		var r syscall.Rlimit
		if syscall.Getrlimit(l.resource, &r) == nil && r.Cur < unlimited {
			return fmt.Sprintf(l.what, r.Cur>>20)
		}
	}
	if n := groupLimit(root); n < unlimited {
		return fmt.Sprintf("the control group allows %d MiB", n>>20)
	}
	// By default the kernel promises more memory than there is, and allocating fails seldom.
	if mode, err := fs.ReadFile(root, "proc/sys/vm/overcommit_memory"); err == nil && strings.TrimSpace(string(mode)) == "2" {
		return "the system promises no more memory than it has (vm.overcommit_memory)"
	}
	return ""
}

// groupLimit returns the least memory, in bytes, that a control group of this
// process, or one around it, allows.
func groupLimit(root fs.FS) uint64 {
	least := uint64(unlimited)
	groups, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return least
	}
	for line := range strings.Lines(string(groups)) { // number:controllers:path
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		top, file := "sys/fs/cgroup", "memory.max"
		switch controllers := strings.Split(parts[1], ","); {
		case slices.Contains(controllers, "memory"): // version 1
			top, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		case parts[1] != "":
			continue
		}
		for dir := path.Clean("/" + parts[2]); ; dir = path.Dir(dir) {
			if text, err := fs.ReadFile(root, path.Join(top, dir, file)); err == nil {
				if n, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64); err == nil {
					least = min(least, n)
				}
			}
			if dir == "/" {
				break
			}
		}
	}
	return least
}
