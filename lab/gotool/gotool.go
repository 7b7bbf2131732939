// Package gotool runs the go command.
package gotool

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Tool is a go command.
type Tool struct {
	Path string   // "" for the one in PATH
	Env  []string // besides this process's, without its flags, workspace and cgo
}

// Run returns what the command writes to its standard output.
func (t Tool) Run(ctx context.Context, dir string, args ...string) ([]byte, error) {
	argv := []string{t.Path}
	if t.Path == "" {
		argv[0] = "go"
	}
	if nice, err := exec.LookPath("nice"); err == nil {
		argv = append([]string{nice}, argv...)
	}
	cmd := exec.CommandContext(ctx, argv[0], append(argv[1:], args...)...)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "GOFLAGS=", "GOWORK=off", "CGO_ENABLED=0"), t.Env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s%s", strings.Join(args, " "), err, errs.Bytes(), out.Bytes())
	}
	return out.Bytes(), nil
}

// CopyModule fetches MODULE@VERSION and writes its source to a new folder, where it is a module
// like any other: its own go.sum holds there, and its tests may write.
func (t Tool) CopyModule(ctx context.Context, module, to string) error {
	text, err := t.Run(ctx, os.TempDir(), "mod", "download", "-json", module)
	if err != nil {
		return err
	}
	var got struct{ Dir string }
	if err := json.Unmarshal(text, &got); err != nil {
		return fmt.Errorf("go mod download %s: %w", module, err)
	}
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	if err := os.CopyFS(to, os.DirFS(got.Dir)); err != nil {
		return err
	}
	mod := filepath.Join(to, "go.mod")
	if _, err := os.Stat(mod); !os.IsNotExist(err) {
		return err
	}
	name, _, _ := strings.Cut(module, "@") // it is older than modules
	return os.WriteFile(mod, fmt.Appendf(nil, "module %s\n", name), 0o644)
}
