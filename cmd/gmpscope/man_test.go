package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestMan wants a page for each command that help names, with the flags that it names, and
// formatters to be content with it.
func TestMan(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "man1")
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"man", dir}, nil, &out, &errs); code != exitOK || out.Len()+errs.Len() > 0 {
		t.Fatalf("exit code %d: %s%s", code, out.String(), errs.String())
	}
	macro := regexp.MustCompile(`^\.(TH|SH|PP|TP|B|BR|EX|EE)( |$)`)
	pages := 0
	var look func(cmd *cobra.Command)
	look = func(cmd *cobra.Command) {
		pages++
		file := filepath.Join(dir, pageName(cmd)+".1")
		page, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
			return
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && !strings.Contains(string(page), `\-\-`+strings.ReplaceAll(f.Name, "-", `\-`)+`\fR`) {
				t.Errorf("%s lacks --%s", file, f.Name)
			}
		})
		for line := range strings.Lines(string(page)) {
			if line = strings.TrimSuffix(line, "\n"); strings.HasPrefix(line, ".") && !macro.MatchString(line) || strings.HasPrefix(line, "'") {
				t.Errorf("%s: %q is no macro of man(7)", file, line)
			}
		}
		format(t, file)
		for _, c := range documented(cmd) {
			look(c)
		}
	}
	look((&app{getenv: os.Getenv}).root())
	if files, err := os.ReadDir(dir); err != nil || len(files) != pages || pages < 10 {
		t.Errorf("%d files, want %d: %v", len(files), pages, err)
	}
}

// format has groff format a page, where there is one.
func format(t *testing.T, file string) {
	groff, err := exec.LookPath("groff")
	if err != nil {
		return
	}
	if says, err := exec.Command(groff, "-man", "-Tutf8", "-ww", "-z", file).CombinedOutput(); err != nil || len(says) > 0 {
		t.Errorf("groff %s: %v\n%s", file, err, says)
	}
}

func TestRoff(t *testing.T) {
	for in, want := range map[string]string{
		"--format 'x'":    `\-\-format 'x'`,
		".TH\n'quoted'":   "\\&.TH\n\\&'quoted'",
		`a\nb`:            `a\enb`,
		"  .not indented": "  .not indented",
	} {
		if got := roff(in); got != want {
			t.Errorf("roff(%q) = %q, want %q", in, got, want)
		}
	}
}
