// Package manpages writes manual pages of gmpscope, for those who package it.
package manpages

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/gmpscope/gmpscope/lab/cli"
)

// Command writes a page (section 1) for each command of a program into a folder.
func Command(flags *flag.FlagSet) cli.Do {
	program := flags.String("program", "gmpscope", "ask `FILE` for its help")
	out := flags.String("o", "man", "write the pages into `FOLDER`")
	return func(ctx context.Context, _ []string, _ io.Writer) error {
		if err := os.MkdirAll(*out, 0o755); err != nil {
			return err
		}
		return write(ctx, *program, *out, nil)
	}
}

// below finds the commands in help.
var below = regexp.MustCompile(`(?m)^  ([a-z]+) +\S`)

// write writes the page of a command and those of the commands below it.
func write(ctx context.Context, program, out string, command []string) error {
	help, err := exec.CommandContext(ctx, program, append(command, "--help")...).Output()
	if err != nil {
		return fmt.Errorf("%s %s --help: %w", program, strings.Join(command, " "), err)
	}
	name := strings.Join(append([]string{"gmpscope"}, command...), "-")
	first, _, _ := strings.Cut(string(help), "\n\n")
	first, _, _ = strings.Cut(strings.Join(strings.Fields(first), " ")+" ", ". ")
	page := fmt.Sprintf(".TH %q 1\n.SH NAME\n%s \\- %s\n.SH DESCRIPTION\n.EX\n%s\n.EE\n", strings.ToUpper(name), roff(name), roff(first), roff(strings.TrimSpace(string(help))))
	if err := os.WriteFile(filepath.Join(out, name+".1"), []byte(page), 0o644); err != nil {
		return err
	}
	_, list, found := strings.Cut(string(help), "Available Commands:\n")
	if !found {
		return nil
	}
	list, _, _ = strings.Cut(list, "\n\n")
	for _, m := range below.FindAllStringSubmatch(list, -1) {
		if m[1] == "help" || m[1] == "completion" {
			continue
		}
		if err := write(ctx, program, out, append(command[:len(command):len(command)], m[1])); err != nil {
			return err
		}
	}
	return nil
}

// roff makes text harmless for roff: a dot or a quote that begins a line makes it a
// request, a backslash begins an escape, and a dash would become a hyphen.
func roff(text string) string {
	lines := strings.Split(strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text), "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}
