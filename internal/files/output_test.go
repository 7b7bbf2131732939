package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// write creates an output of that name with that content.
func write(t *testing.T, name, content string) {
	t.Helper()
	o, err := Create(t.Context(), "-o", name)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Discard()
	if _, err := o.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if err := o.Commit(); err != nil {
		t.Fatal(err)
	}
}

// holds wants a file to have that content, and the folder that many files.
func holds(t *testing.T, name, content string, files int) {
	t.Helper()
	if got, err := os.ReadFile(name); err != nil || string(got) != content {
		t.Errorf("%.50s: %q, %v; want %q", name, got, err, content)
	}
	if all, err := os.ReadDir("."); err != nil || len(all) != files {
		t.Errorf("%d files, want %d: %v, %v", len(all), files, all, err)
	}
}

func symlink(t *testing.T, to, name string) {
	t.Helper()
	if err := os.Symlink(filepath.FromSlash(to), name); err != nil {
		t.Skip(err) // Windows lets not everybody
	}
}

func TestLongName(t *testing.T) {
	t.Chdir(t.TempDir())
	name := strings.Repeat("n", 255)
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Skip(err)
	}
	os.Remove(name)
	write(t, name, "first")
	holds(t, name, "first", 1)
	write(t, name, "second")
	holds(t, name, "second", 1)
}

func TestLinks(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.MkdirAll("a/b", 0o777); err != nil {
		t.Fatal(err)
	}
	symlink(t, "a/b", "up")       // so that up/.. is a
	symlink(t, "end", "a/link")   // to nothing
	symlink(t, "up/../link", "l") // to the link
	write(t, "l", "first")
	holds(t, "a/end", "first", 3)
	write(t, "l", "second")
	holds(t, "a/end", "second", 3)
	if _, err := os.Readlink("a/link"); err != nil {
		t.Error("the link was replaced")
	}
	symlink(t, "loop", "loop")
	if _, err := Create(t.Context(), "-o", "loop"); err == nil {
		t.Error("a link to itself is created")
	}
	if _, err := Create(t.Context(), "-o", "a"); !errors.Is(err, ErrDirectory) {
		t.Errorf("a directory is created: %v", err)
	}
}

// TestTwoAtOnce: two outputs of one name have nothing in common until they get it.
func TestTwoAtOnce(t *testing.T) {
	t.Chdir(t.TempDir())
	first, err := Create(t.Context(), "-o", "out")
	if err != nil {
		t.Fatal(err)
	}
	defer first.Discard()
	if _, err := first.Write([]byte("first")); err != nil {
		t.Fatal(err)
	}
	write(t, "out", "second")
	holds(t, "out", "second", 2)
	if err := first.Commit(); err != nil {
		t.Fatal(err)
	}
	holds(t, "out", "first", 1)
}

func TestMode(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("permissions are of another kind")
	}
	t.Chdir(t.TempDir())
	if err := os.WriteFile("usual", nil, 0o666); err != nil {
		t.Fatal(err)
	}
	usual, err := os.Stat("usual")
	if err != nil {
		t.Fatal(err)
	}
	write(t, "new", "")
	for name, want := range map[string]fs.FileMode{"new": usual.Mode(), "private": 0o600, "open": 0o666, "locked": 0o444, "odd": 0o751} {
		if name != "new" {
			if err := errors.Join(os.WriteFile(name, nil, 0o600), os.Chmod(name, want)); err != nil {
				t.Fatal(err)
			}
			write(t, name, "")
		}
		if st, err := os.Stat(name); err != nil || st.Mode() != want {
			t.Errorf("%s: mode %v, want %v; %v", name, st.Mode(), want, err)
		}
	}
}

// TestOverwrite replaces what cannot be renamed to, with something shorter and
// something longer.
func TestOverwrite(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, old := range []string{"", "short", strings.Repeat("long", 1000)} {
		for _, content := range []string{"", "new", strings.Repeat("new", 1000)} {
			if err := os.WriteFile("out", []byte(old), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Link("out", "same"); err != nil {
				t.Skip(err)
			}
			o, err := Create(t.Context(), "-o", "out")
			if err != nil {
				t.Fatal(err)
			}
			o.apart = true
			if _, err := o.Write([]byte(content)); err != nil {
				t.Fatal(err)
			}
			if err := o.Commit(); err != nil {
				t.Fatal(err)
			}
			holds(t, "same", content, 2) // in place
			os.Remove("same")
		}
	}
}

// TestKept: a complete output whose target became impossible is kept, and the
// error says where.
func TestKept(t *testing.T) {
	t.Chdir(t.TempDir())
	o, err := Create(t.Context(), "-o", "out")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.Write([]byte("content")); err != nil {
		t.Fatal(err)
	}
	temp, _ := o.Path()
	if err := os.MkdirAll("out/full", 0o700); err != nil {
		t.Fatal(err)
	}
	err = o.Commit()
	o.Discard()
	if err == nil || !strings.HasPrefix(err.Error(), "writing out: ") || !strings.HasSuffix(err.Error(), "; what should be in it is in "+temp) {
		t.Error(err)
	}
	holds(t, temp, "content", 2)
}

func TestDiscard(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("out", []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := Create(t.Context(), "-o", "out")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.Write([]byte("new")); err != nil {
		t.Fatal(err)
	}
	o.Discard()
	holds(t, "out", "old", 1)
}

func TestSame(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := errors.Join(os.Mkdir("dir", 0o700), os.WriteFile("dir/file", nil, 0o600), os.WriteFile("other", nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	symlink(t, "dir", "way")
	symlink(t, "dir/file", "soft")
	symlink(t, "dir/nothing", "dangling")
	if err := os.Link("dir/file", "hard"); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open("hard")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, c := range []struct {
		a, b ID
		want bool
	}{
		{Named("dir/file"), Named("./way/file"), true},
		{Named("soft"), Named("hard"), true},
		{Named("soft"), Opened(f), true},
		{Named("other"), Opened(f), false},
		{Named("dir/nothing"), Named("dangling"), true},
		{Named("way/nothing"), Named("dangling"), true},
		{Named("nothing"), Named("dangling"), false},
		{Named("nowhere/file"), Named("nowhere/file"), false}, // neither can be created
		{Named(os.DevNull), Named(os.DevNull), false},
		{Opened(nil), Opened(nil), false},
		{Opened(strings.NewReader("")), Named("other"), false},
	} {
		if c.a.Same(c.b) != c.want || c.b.Same(c.a) != c.want {
			t.Errorf("%+v and %+v are the same: %v, want %v", c.a, c.b, !c.want, c.want)
		}
	}
}
