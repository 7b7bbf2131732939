package units

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/gmpscope/gmpscope/lab/runner"
)

// file is the name of the file with the truth of a recording.
func file(t *runner.Take) string { return t.Name + ".units.jsonl.gz" }

// Put writes the truth of a fresh recording beside its trace.
func Put(dir string, x *runner.Recording) error {
	x, err := aligned(x)
	if err != nil {
		return err
	}
	zipped, err := runner.Compress(x.Units)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, file(x.Take)), zipped, 0o644)
}

// aligned returns a fresh recording with its units as they are stored.
func aligned(x *runner.Recording) (*runner.Recording, error) {
	truth, err := align(x.Units, x.Trace)
	if err != nil {
		return nil, err
	}
	var lines bytes.Buffer
	enc := json.NewEncoder(&lines)
	for _, u := range truth {
		if err := enc.Encode(u); err != nil {
			return nil, err
		}
	}
	out := *x
	out.Units = lines.Bytes()
	return &out, nil
}

// Fresh gives recordings that from makes, with their units as they are stored.
func Fresh(from runner.Source) runner.Source {
	return func(ctx context.Context, t *runner.Take) (*runner.Recording, error) {
		x, err := from(ctx, t)
		if err != nil {
			return nil, err
		}
		return aligned(x)
	}
}

// Stored gives those in a folder.
func Stored(dir string) runner.Source {
	traces := runner.Stored(dir)
	return func(ctx context.Context, t *runner.Take) (*runner.Recording, error) {
		x, err := traces(ctx, t)
		if err != nil {
			return nil, err
		}
		zipped, err := os.ReadFile(filepath.Join(dir, file(t)))
		if err != nil {
			return nil, err
		}
		x.Units, err = runner.Decompress(zipped)
		return x, err
	}
}
