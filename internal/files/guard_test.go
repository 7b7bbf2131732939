package files

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// content makes files with their names as content.
func content(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, []byte(name), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestGuard reads a file, by each function that does, before an output of one of its names is begun
// and after that: the file stays as it is.
func TestGuard(t *testing.T) {
	readers := map[string]func(context.Context) error{
		"Open":    func(ctx context.Context) error { _, err := Open(ctx, "in"); return err },
		"Regular": func(ctx context.Context) error { _, err := Regular(ctx, "in"); return err },
		"Get":     func(ctx context.Context) error { _, err := Cache(".").Get(ctx, "in", 10); return err },
	}
	for reader, read := range readers {
		for _, name := range []string{"in", "./dir/../in", "hard", "soft", "dir/up"} {
			t.Chdir(t.TempDir())
			content(t, "in", "dir/x")
			symlink(t, "in", "soft")
			symlink(t, "../in", "dir/up")
			if err := os.Link("in", "hard"); err != nil {
				t.Skip(err)
			}
			var g Guard
			ctx := g.With(t.Context())
			o, err := Create(ctx, "-o", name)
			if err != nil {
				t.Fatal(err)
			}
			var conflict *Conflict
			if err := read(ctx); !errors.As(err, &conflict) || conflict.Output != "-o "+name {
				t.Errorf("%s after -o %s: %v", reader, name, err)
			}
			if err := o.Commit(); !errors.As(err, &conflict) {
				t.Errorf("%s, then Commit of %s: %v", reader, name, err)
			}
			holds(t, "in", "in", 4)
			if err := read(ctx); err != nil {
				t.Errorf("%s after the output ended: %v", reader, err)
			}
			if _, err := Create(ctx, "-o", name); !errors.As(err, &conflict) {
				t.Errorf("-o %s after %s: %v", name, reader, err)
			}
			holds(t, "in", "in", 4)
		}
	}
}

// TestGuardOutputs: two outputs are two files, until one has its name.
func TestGuardOutputs(t *testing.T) {
	t.Chdir(t.TempDir())
	content(t, "a")
	var g Guard
	ctx := g.With(t.Context())
	var conflict *Conflict
	for range 2 {
		for _, name := range []string{"a", "new"} {
			o, err := Create(ctx, "-o", name)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Create(ctx, "--other", "./"+name); !errors.As(err, &conflict) {
				t.Errorf("%s is written twice: %v", name, err)
			}
			if err := o.Commit(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(g.outputs) > 0 {
		t.Errorf("%d outputs are kept in mind", len(g.outputs))
	}
}

// TestGuardAdds: what an output adds to may be read and replaced.
func TestGuardAdds(t *testing.T) {
	t.Chdir(t.TempDir())
	content(t, "all")
	var g Guard
	ctx := g.With(t.Context())
	g.Adds(Named("all"))
	o, err := Create(ctx, "-o", "all")
	if err != nil {
		t.Fatal(err)
	}
	f, err := Open(ctx, "all")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(o, f); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if err := o.Commit(); err != nil {
		t.Fatal(err)
	}
	holds(t, "all", "all", 1)
}

// TestPeek: to look at the beginning of a file makes it no input.
func TestPeek(t *testing.T) {
	t.Chdir(t.TempDir())
	content(t, "page")
	if head, err := Peek("page", 2); err != nil || string(head) != "pa" {
		t.Errorf("%q, %v", head, err)
	}
	write(t, "page", "new")
	holds(t, "page", "new", 1)
}

// TestCreateIn follows no link: the user did not name it.
func TestCreateIn(t *testing.T) {
	t.Chdir(t.TempDir())
	content(t, "mine", "dir/plain")
	symlink(t, "../mine", "dir/link")
	symlink(t, "../nothing", "dir/loose")
	for _, name := range []string{"plain", "link", "loose", "new"} {
		o, err := CreateIn(t.Context(), "-o", "dir", name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(o, "new"); err != nil {
			t.Fatal(err)
		}
		if err := o.Commit(); err != nil {
			t.Fatal(err)
		}
		if st, err := os.Lstat("dir/" + name); err != nil || !st.Mode().IsRegular() {
			t.Errorf("%s: %v, %v", name, st, err)
		}
		holds(t, "dir/"+name, "new", 2)
	}
	holds(t, "mine", "mine", 2)
	if _, err := CreateIn(t.Context(), "-o", ".", "dir"); !errors.Is(err, ErrDirectory) {
		t.Error(err)
	}
}

// TestCommitIf: what is not good enough replaces no file, and gets a name beside it.
func TestCommitIf(t *testing.T) {
	t.Chdir(t.TempDir())
	for i, c := range []struct {
		output, name, before string // of the file that has the output's name
		good                 bool
	}{
		{"t.out", "t.out", "", false},
		{"t.out", "t.part.out", "0", false},
		{"t.out", "t.part-2.out", "0", false},
		{"t.out", "t.out", "0", true},
		{"dir/plain", "dir/plain", "", false},
		{"dir/plain", "dir/plain.part", "4", false},
		{"link", "dir/plain.part-2", "4", false},
	} {
		if i == 4 {
			if err := os.Mkdir("dir", 0o700); err != nil {
				t.Fatal(err)
			}
			symlink(t, "dir/plain", "link")
		}
		o, err := Create(t.Context(), "-o", c.output)
		if err != nil {
			t.Fatal(err)
		}
		text := string(rune('0' + i))
		if _, err := io.WriteString(o, text); err != nil {
			t.Fatal(err)
		}
		name, err := o.CommitIf(func() bool { return c.good })
		if err != nil || filepath.ToSlash(name) != c.name {
			t.Errorf("%+v: %s, %v", c, name, err)
		}
		if got, err := os.ReadFile(name); err != nil || string(got) != text {
			t.Errorf("%+v: %q, %v", c, got, err)
		}
		if before, err := os.ReadFile(c.output); c.name != c.output && (err != nil || string(before) != c.before) {
			t.Errorf("%+v: replaced by %q, %v", c, before, err)
		}
	}
	if left, err := filepath.Glob(".gmpscope-*"); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
