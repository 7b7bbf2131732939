//go:build unix

package files

import (
	"errors"
	"os"
	"syscall"
	"testing"
)

// TestNoWait: where only a regular file will do, nobody waits for the other end of a named pipe.
func TestNoWait(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := syscall.Mkfifo("pipe", 0o600); err != nil {
		t.Skip(err)
	}
	symlink(t, "pipe", "link")
	for _, name := range []string{"pipe", "link"} {
		if _, err := Regular(t.Context(), name); !errors.Is(err, ErrSpecial) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := Peek(name, 1); !errors.Is(err, ErrSpecial) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := Cache(".").Get(t.Context(), name, 1); !errors.Is(err, ErrSpecial) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := Cache(".").Put(t.Context(), "pipe", nil); !errors.Is(err, ErrSpecial) {
		t.Error(err)
	}
	if st, err := os.Lstat("pipe"); err != nil || st.Mode().Type() != os.ModeNamedPipe {
		t.Errorf("the pipe was replaced: %v, %v", st, err)
	}
}

// TestOwner: a file that root replaces stays its owner's.
func TestOwner(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root gives files away")
	}
	t.Chdir(t.TempDir())
	if err := errors.Join(os.WriteFile("theirs", nil, 0o640), os.Chown("theirs", 1000, 1001)); err != nil {
		t.Skip(err)
	}
	write(t, "theirs", "new")
	st, err := os.Stat("theirs")
	if err != nil {
		t.Fatal(err)
	}
	if uid, gid, ok := owner(st); !ok || uid != 1000 || gid != 1001 || st.Mode() != 0o640 {
		t.Errorf("owner %d:%d, mode %v", uid, gid, st.Mode())
	}
}
