// Package same answers: how much do recordings of one program differ, and what does diff make of
// that? It reads folders of traces PROGRAM.SESSION.N.trace: those of a session were recorded in
// turns with those of other programs, the sessions at different times.
package same

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/analyze/sidecar"
)

// program is the results of its recordings by session.
type program struct {
	name     string
	sessions map[string][]*analyze.Result
}

// read analyses the traces in folders.
func read(ctx context.Context, dirs []string) ([]*program, error) {
	var out []*program
	for _, dir := range dirs {
		files, err := filepath.Glob(filepath.Join(dir, "*.*.*.trace"))
		if err != nil {
			return nil, err
		}
		slices.Sort(files)
		for _, file := range files {
			parts := strings.Split(filepath.Base(file), ".")
			r, err := analyzed(ctx, file)
			if err != nil {
				return nil, err
			}
			i := slices.IndexFunc(out, func(p *program) bool { return p.name == parts[0] })
			if i < 0 {
				i = len(out)
				out = append(out, &program{parts[0], map[string][]*analyze.Result{}})
			}
			out[i].sessions[parts[1]] = append(out[i].sessions[parts[1]], r)
		}
	}
	if len(out) == 0 {
		return nil, errors.New("no recordings: name folders with PROGRAM.SESSION.N.trace")
	}
	return out, nil
}

func analyzed(ctx context.Context, file string) (*analyze.Result, error) {
	src, err := input.Open(ctx, file, input.Options{})
	if err != nil {
		return nil, err
	}
	defer src.Close()
	r, err := analyze.Run(ctx, src, analyze.Options{NoTimeline: true})
	if err != nil {
		return nil, fmt.Errorf("analyze %s: %w", file, err)
	}
	r.Trace.Sidecar, err = sidecar.Read(ctx, file)
	return r, err
}
