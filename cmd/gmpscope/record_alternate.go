package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gmpscope/gmpscope/internal/term"
)

// The sides of recordings in turns, by which their files are called.
var alternating = [2]string{"old", "new"}

// betweenCommands stands between the two commands of record --alternate.
const betweenCommands = "--and"

// recordAlternately runs two commands in turns, so that whatever the machine does meanwhile
// happens to both, and records each time.
func (a *app) recordAlternately(ctx context.Context, args []string, dashed bool, r recording) error {
	at := slices.Index(args, betweenCommands)
	if at <= 0 || at == len(args)-1 {
		return usagef("--alternate needs two commands: -- OLD... %s NEW...", betweenCommands)
	}
	dir := r.output
	switch found, err := alternated(dir, -1); {
	case errors.Is(err, os.ErrNotExist):
		if err := os.Mkdir(dir, 0o777); err != nil {
			return fmt.Errorf("recording: %w", err)
		}
	case err != nil:
		return err
	case len(found) > 0:
		return usagef("-o %s: recordings are there already, such as %s: name another folder", term.Line(dir), filepath.Base(found[0]))
	}
	for i := range r.runs {
		for side, command := range [2][]string{args[:at], args[at+1:]} {
			r.output = filepath.Join(dir, fmt.Sprintf("%s.%d.trace", alternating[side], i+1))
			if err := a.recordCommand(ctx, command, dashed, r); err != nil {
				return err
			}
		}
	}
	return nil
}

// alternated returns the recordings of a side in a folder, or of both for -1, in their order.
func alternated(dir string, side int) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("looking for recordings: %w", err)
	}
	number := func(name string) int {
		parts := strings.Split(name, ".")
		if len(parts) != 3 || parts[2] != "trace" {
			return 0
		}
		if i := slices.Index(alternating[:], parts[0]); i < 0 || side >= 0 && i != side {
			return 0
		}
		n, _ := strconv.Atoi(parts[1])
		return n
	}
	var names []string
	for _, e := range entries {
		if number(e.Name()) > 0 {
			names = append(names, e.Name())
		}
	}
	slices.SortFunc(names, func(x, y string) int { return cmp.Or(cmp.Compare(number(x), number(y)), cmp.Compare(x, y)) })
	for i := range names {
		names[i] = filepath.Join(dir, names[i])
	}
	if len(names) == 0 && side >= 0 {
		return nil, usagef("%s has no %s.1.trace: gmpscope record --alternate writes such folders", term.Line(dir), alternating[side])
	}
	return names, nil
}
