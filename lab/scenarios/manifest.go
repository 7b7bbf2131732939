package scenarios

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gmpscope/gmpscope/lab/runner"
)

const (
	manifestName = "manifest.json"
	markdownName = "MANIFEST.md"
)

// A manifest lists the traces of testdata/traces, sorted by file.
type manifest struct {
	Traces []row `json:"traces"`
}

// A row describes one trace file.
type row struct {
	Name          string `json:"name"`
	File          string `json:"file"`               // relative to the manifest
	Scenario      string `json:"scenario,omitempty"` // absent for traces of real programs
	Real          bool   `json:"real,omitempty"`     // recorded from a program that is not ours; carried over as it is
	Program       string `json:"program,omitempty"`
	Go            string `json:"go,omitempty"` // as "go1.26.8"
	Format        string `json:"format"`       // from the header: "go 1.26"
	GOOS          string `json:"goos,omitempty"`
	GOARCH        string `json:"goarch,omitempty"`
	GOMAXPROCS    string `json:"gomaxprocs,omitempty"` // several, in order of time, where it changes
	Command       string `json:"command"`
	SHA256        string `json:"sha256"`      // of the trace
	GzipSHA256    string `json:"sha256_gzip"` // of the file
	Bytes         int    `json:"bytes"`
	GzipBytes     int    `json:"bytes_gzip"`
	Events        int    `json:"events"` // as Reader.ReadEvent returns them, syncs included
	Generations   int    `json:"generations"`
	Goroutines    int    `json:"goroutines"`  // distinct ids seen
	Procs         int    `json:"procs"`       // likewise
	Threads       int    `json:"threads"`     // likewise
	DurationNanos int64  `json:"duration_ns"` // from the first event to the last
	// CPUWaitNanos is for how long the program's threads, summed, could have
	// run but had no CPU while it traced, as Linux counts it; -1 if unknown.
	// What a hypervisor took away is not in it.
	CPUWaitNanos int64  `json:"cpu_wait_ns"`
	Reader       string `json:"reader"` // how reading ends: "EOF", or x/exp/trace's error
	Shows        string `json:"shows"`
}

// describe fills in what the trace itself says.
func (r *row) describe(rec *recording) {
	r.Format = rec.format
	r.Events = rec.read
	r.Generations = rec.generations
	r.Goroutines = rec.goroutines
	r.Procs = rec.procs
	r.Threads = rec.threads
	r.DurationNanos = int64(rec.last.Sub(rec.first))
}

// verify checks the file of r in dir against what r says about it, and against
// the facts of its scenario.
func (r row) verify(dir string) error {
	zipped, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(r.File)))
	if err != nil {
		return err
	}
	data, err := runner.Decompress(zipped)
	if err != nil {
		return err
	}
	found := r
	found.GzipSHA256, found.GzipBytes = runner.Sum(zipped), len(zipped)
	found.SHA256, found.Bytes = runner.Sum(data), len(data)
	found.Reader = "EOF"
	rec, err := readRecording(bytes.NewReader(data))
	if err != nil {
		found.Reader = err.Error()
	}
	found.describe(rec)
	if found != r {
		return fmt.Errorf("the manifest says %+v, the file %+v", r, found)
	}
	if r.Real {
		return nil
	}
	i := slices.IndexFunc(scenarios, func(s scenario) bool { return s.name == r.Scenario })
	if i < 0 {
		return fmt.Errorf("no scenario %q", r.Scenario)
	}
	if s := &scenarios[i]; r.Shows != s.shows {
		return fmt.Errorf("the manifest says that it shows %q, the scenario %q", r.Shows, s.shows)
	}
	var gomaxprocs int
	if _, err := fmt.Sscan(r.GOMAXPROCS, &gomaxprocs); err != nil {
		return err
	}
	return scenarios[i].facts(rec, gomaxprocs)
}

func readManifest(dir string) (*manifest, error) {
	m := new(manifest)
	data, err := os.ReadFile(filepath.Join(dir, manifestName))
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(data, m); err != nil {
		return nil, fmt.Errorf("%s: %w", manifestName, err)
	}
	return m, nil
}

// Put writes a recording's row into the manifest in dir.
func (t *Target) Put(dir string, x *runner.Recording, of runner.Row) error {
	m, err := readManifest(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	r := row{
		Name: t.Name, File: of.File, Scenario: t.scenario.name, Program: "programs/" + t.scenario.name,
		Go: of.Go, GOOS: of.GOOS, GOARCH: of.GOARCH, GOMAXPROCS: strconv.Itoa(t.GOMAXPROCS), Command: of.Command,
		SHA256: of.SHA256, GzipSHA256: of.GzipSHA256, Bytes: of.Bytes, GzipBytes: of.GzipBytes, CPUWaitNanos: of.CPUWaitNanos,
		Reader: "EOF", Shows: t.scenario.shows,
	}
	rec, err := readRecording(bytes.NewReader(x.Trace))
	if err != nil {
		return err
	}
	r.describe(rec)
	m.put(r)
	return m.write(dir)
}

// Prune removes the recordings of ours that are none of all, and returns their names.
func Prune(dir string, all []*Target) ([]string, error) {
	m, err := readManifest(dir)
	if err != nil {
		return nil, err
	}
	var gone []string
	m.Traces = slices.DeleteFunc(m.Traces, func(r row) bool {
		if r.Real || slices.ContainsFunc(all, func(t *Target) bool { return t.Name == r.Name }) {
			return false
		}
		gone = append(gone, r.File)
		return true
	})
	for _, file := range gone {
		if err := os.Remove(filepath.Join(dir, file)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
	return gone, m.write(dir)
}

// Verify checks that the manifest in dir describes the files that are there, that each trace
// reads as it says, and that each still shows what it must.
func Verify(dir string, stdout io.Writer) error {
	manifest, err := readManifest(dir)
	if err != nil {
		return err
	}
	var problems []error
	listed := make(map[string]bool)
	for _, row := range manifest.Traces {
		listed[row.File] = true
		if err := row.verify(dir); err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", row.Name, err))
		}
	}
	for _, sub := range []string{".", "real"} {
		files, err := filepath.Glob(filepath.Join(dir, sub, "*.gz"))
		if err != nil {
			return err
		}
		for _, file := range files {
			if name := filepath.ToSlash(filepath.Join(sub, filepath.Base(file))); !listed[name] {
				problems = append(problems, fmt.Errorf("%s: not in the manifest", name))
			}
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, markdownName)); err != nil || !bytes.Equal(text, manifest.markdown()) {
		problems = append(problems, fmt.Errorf("%s: not what %s says (record anything to regenerate it)", markdownName, manifestName))
	}
	if len(problems) > 0 {
		return errors.Join(problems...)
	}
	fmt.Fprintf(stdout, "%d traces, %d bytes: all as the manifest says\n", len(manifest.Traces), manifest.gzipBytes())
	return nil
}

// put adds r, or replaces the row of the same file.
func (m *manifest) put(r row) {
	i, found := slices.BinarySearchFunc(m.Traces, r.File, func(r row, file string) int { return strings.Compare(r.File, file) })
	if found {
		m.Traces[i] = r
	} else {
		m.Traces = slices.Insert(m.Traces, i, r)
	}
}

func (m *manifest) write(dir string) error {
	var buf bytes.Buffer
	encoder := json.NewEncoder(&buf)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(m); err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(dir, manifestName), buf.Bytes(), 0o644),
		os.WriteFile(filepath.Join(dir, markdownName), m.markdown(), 0o644))
}

func (m *manifest) gzipBytes() int {
	total := 0
	for _, r := range m.Traces {
		total += r.GzipBytes
	}
	return total
}

// markdown renders the manifest for people.
func (m *manifest) markdown() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `# Traces

Generated from %s by the recorder; do not edit.

    scripts/lab record scenarios    # re-record all scenarios
    scripts/lab judge scenarios     # check the files

%d traces, %d bytes compressed. GMP: GOMAXPROCS; events: as Reader.ReadEvent of golang.org/x/exp/trace returns them; G, P, M: distinct goroutines, Ps and threads seen; CPU lacked: time that threads of the program, summed, could have run but had no CPU (what a hypervisor took not included).
`, manifestName, len(m.Traces), m.gzipBytes())
	b.WriteString(`
## Scenarios

Each is recorded by a program of ours, ` + "`programs/SCENARIO`" + `, whose comment says in full what its traces must show. ` + "`lab/scenarios/facts.go`" + ` checks it on each recording.

`)
	list := make(map[string]bool)
	for _, r := range m.Traces {
		if !r.Real && !list[r.Scenario] {
			list[r.Scenario] = true
			fmt.Fprintf(&b, "* **%s**: %s\n", r.Scenario, r.Shows)
		}
	}
	m.table(&b, false)
	b.WriteString(`
## Real programs

Recorded elsewhere, kept in ` + "`real/`" + ` as they are.

`)
	for _, r := range m.Traces {
		if r.Real {
			fmt.Fprintf(&b, "* **%s**: %s", r.Name, r.Shows)
			if r.Program != "" {
				fmt.Fprintf(&b, ". %s", r.Program)
			}
			if r.Command != "" {
				fmt.Fprintf(&b, ": `%s`", r.Command)
			}
			if r.Reader != "EOF" {
				fmt.Fprintf(&b, ". The reader says: %s", r.Reader)
			}
			b.WriteString("\n")
		}
	}
	m.table(&b, true)
	return b.Bytes()
}

// table writes a table of the traces of one sort.
func (m *manifest) table(b *bytes.Buffer, isReal bool) {
	fmt.Fprint(b, `
| file | Go | GMP | ms | gz bytes | events | gens | G | P | M | CPU lacked ms |
|---|---|---|---:|---:|---:|---:|---:|---:|---:|---:|
`)
	for _, r := range m.Traces {
		if r.Real != isReal {
			continue
		}
		lacked := "?"
		if r.CPUWaitNanos >= 0 {
			lacked = fmt.Sprintf("%.1f", float64(r.CPUWaitNanos)/1e6)
		}
		fmt.Fprintf(b, "| %s | %s | %s | %.1f | %d | %d | %d | %d | %d | %d | %s |\n",
			r.File, strings.TrimPrefix(r.Go, "go"), r.GOMAXPROCS, float64(r.DurationNanos)/1e6, r.GzipBytes,
			r.Events, r.Generations, r.Goroutines, r.Procs, r.Threads, lacked)
	}
}
