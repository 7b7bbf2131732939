package cases

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/lab/runner"
)

// MaxBytes is how large the file of a recording may be.
const MaxBytes = 150_000

// Dir is the folder of the recordings in the checkout root.
func Dir(root string) string { return filepath.Join(root, "testdata", "traces", "cases") }

// ReadManifest reads the manifest of a room; empty if there is none.
func ReadManifest(dir, room string) ([]runner.Row, error) {
	data, err := os.ReadFile(filepath.Join(dir, room+".json"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var rows []runner.Row
	if err := json.Unmarshal(data, &rows); err != nil {
		return nil, fmt.Errorf("%s.json: %w", room, err)
	}
	return rows, nil
}

// Put writes a recording's row in the manifest of its room, ROOM.json beside the files.
func (r *Recording) Put(dir string, row runner.Row) error {
	if row.GzipBytes > MaxBytes {
		return fmt.Errorf("%s: %d bytes compressed, more than %d: let the program do less", r.Name, row.GzipBytes, MaxBytes)
	}
	rows, err := ReadManifest(dir, r.Case.Room)
	if err != nil {
		return err
	}
	i, found := slices.BinarySearchFunc(rows, row.File, func(x runner.Row, file string) int { return strings.Compare(x.File, file) })
	if found {
		rows[i] = row
	} else {
		rows = slices.Insert(rows, i, row)
	}
	return writeManifest(dir, r.Case.Room, rows)
}

func writeManifest(dir, room string, rows []runner.Row) error {
	data, err := json.MarshalIndent(rows, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, room+".json"), append(data, '\n'), 0o644)
}

// Prune removes what belongs to none of the recordings, and returns the files'
// names.
func Prune(dir string, recordings []*Recording) ([]string, error) {
	keep := make(map[string]bool)
	for _, r := range recordings {
		keep[r.File()] = true
		keep[r.Case.Room+".json"] = true
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		return nil, err
	}
	var gone []string
	for _, file := range files {
		name := filepath.Base(file)
		if !keep[name] {
			if err := os.Remove(file); err != nil {
				return nil, err
			}
			gone = append(gone, name)
			continue
		}
		room, ok := strings.CutSuffix(name, ".json")
		if !ok {
			continue
		}
		rows, err := ReadManifest(dir, room)
		if err != nil {
			return nil, err
		}
		if kept := slices.DeleteFunc(slices.Clone(rows), func(x runner.Row) bool { return !keep[x.File] }); len(kept) < len(rows) {
			if err := writeManifest(dir, room, kept); err != nil {
				return nil, err
			}
		}
	}
	return gone, nil
}
