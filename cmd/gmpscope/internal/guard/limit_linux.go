package guard

import (
	"fmt"
	"io/fs"
	"strings"
	"syscall"
)

// unlimited is less than what any system says for no limit, and more than any
// machine has.
const unlimited = 1 << 60

// limit reports what makes the runtime end this process when memory is short, or ""
// if nothing does. A control group is no such limit: there the kernel kills the
// process, and its exit code tells. root holds the files of the system.
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
	// By default the kernel promises more memory than there is, and allocating fails seldom.
	if mode, err := fs.ReadFile(root, "proc/sys/vm/overcommit_memory"); err == nil && strings.TrimSpace(string(mode)) == "2" {
		return "the system promises no more memory than it has (vm.overcommit_memory)"
	}
	return ""
}
