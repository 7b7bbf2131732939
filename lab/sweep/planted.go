package sweep

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/exp/trace"

	"github.com/gmpscope/gmpscope/lab/cli"
	"github.com/gmpscope/gmpscope/lab/runner"
)

// A fault makes a program slow in what it is made of: not in tests, benchmarks, clients or main.
type fault struct {
	module    string // MODULE@VERSION
	file      string
	at        string // begins one line of the file, behind which it goes
	culprit   string // the function around it
	mechanism string
	much      string
}

// plant changes the copy of the module in dir.
func (f *fault) plant(dir string) error {
	name := filepath.Join(dir, filepath.FromSlash(f.file))
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	lines := strings.Split(string(text), "\n")
	begins := func(with string) func(string) bool {
		return func(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), with) }
	}
	i := slices.IndexFunc(lines, begins(f.at))
	if i < 0 || slices.ContainsFunc(lines[i+1:], begins(f.at)) {
		return fmt.Errorf("%s: not one line begins with %q", name, f.at)
	}
	m := mechanisms[f.mechanism]
	how := strings.NewReplacer("$D", f.much)
	lines = append(slices.Insert(lines, i+1, how.Replace(m.add)), how.Replace(m.end), "")
	for _, path := range strings.Fields(m.imports) {
		line := strconv.Quote(path)
		if !slices.ContainsFunc(lines, func(l string) bool { return strings.TrimPrefix(strings.TrimSpace(l), "import ") == line }) {
			lines = slices.Insert(lines, slices.IndexFunc(lines, begins("package "))+1, "import "+line)
		}
	}
	return os.WriteFile(name, []byte(strings.Join(lines, "\n")), 0o644)
}

// A label is what was planted. Of a program that prints times of operations as benchmarks do, Healthy and Fault are those,
// else how long the trace is, in nanoseconds.
type label struct {
	Name      string             `json:"name"`
	Kind      string             `json:"kind"`
	What      string             `json:"what"`
	File      string             `json:"file"`
	Culprit   []string           `json:"culprit"`
	Mechanism string             `json:"mechanism"`
	Effect    float64            `json:"effect"` // how many times as long it takes
	Healthy   map[string]float64 `json:"healthy"`
	Fault     map[string]float64 `json:"fault"`
}

func (l *label) trace(dir, side string) string {
	return filepath.Join(dir, l.Name+"."+side+".trace")
}

// plantFaults records what has no label in the folder yet.
func plantFaults(flags *flag.FlagSet) cli.Do {
	o := options{dir: "planted"}
	o.add(flags)
	return func(ctx context.Context, _ []string, _ io.Writer) error {
		match, err := regexp.Compile(o.only)
		if err != nil {
			return fmt.Errorf("-only: %w", err)
		}
		root, err := runner.Root()
		if err != nil {
			return err
		}
		if err := os.MkdirAll(o.dir, 0o755); err != nil {
			return err
		}
		failed := 0
		for _, p := range planted() {
			file := filepath.Join(o.dir, p.name+".json")
			if _, err := os.Stat(file); err == nil || !match.MatchString(p.name) {
				continue
			}
			l, err := p.record(ctx, root, o.dir)
			if err != nil {
				failed++
				fmt.Fprintf(os.Stderr, "%s: %v\n", p.name, err)
				continue
			}
			fmt.Fprintf(os.Stderr, "%s: %.1f times\n", p.name, l.Effect)
			text, err := json.MarshalIndent(l, "", "\t")
			if err == nil {
				err = os.WriteFile(file, append(text, '\n'), 0o644)
			}
			if err != nil {
				return err
			}
		}
		if failed > 0 {
			return fmt.Errorf("%d could not be recorded", failed)
		}
		return nil
	}
}

type plant struct {
	load
	fault fault
}

// record records the program without the fault and with it.
func (p *plant) record(ctx context.Context, root, dir string) (*label, error) {
	l := &label{Name: p.name, Kind: p.kind, What: p.what(), File: p.fault.file, Culprit: append([]string{p.fault.culprit}, mechanisms[p.fault.mechanism].names...), Mechanism: p.fault.mechanism}
	for _, side := range []struct {
		name  string
		fault *fault
		costs *map[string]float64
	}{{"healthy", nil, &l.Healthy}, {"fault", &p.fault, &l.Fault}} {
		temp, err := os.MkdirTemp("", "planted")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(temp)
		r := &recorder{
			root: root, temp: temp, fault: side.fault, procs: 2,
			size:    size{20 << 20, 0, 3 * time.Second, 250 * time.Millisecond},
			tests:   []string{"-test.v", "-test.benchtime=20ms"},
			servers: []string{"-clients=8", "-think=20ms", "-for=2s"},
		}
		data, out, err := r.run(ctx, p.load)
		if err != nil {
			return nil, err
		}
		*side.costs, err = costs(data, out)
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(l.trace(dir, side.name), data, 0o644); err != nil {
			return nil, err
		}
	}
	l.Effect = slower(l.Healthy, l.Fault)
	return l, nil
}

var perOp = regexp.MustCompile(`(?m)^(Benchmark\S+)\s+\d+\s+([\d.]+) ns/op`)

func costs(data, out []byte) (map[string]float64, error) {
	all := map[string]float64{}
	for _, m := range perOp.FindAllSubmatch(out, -1) {
		all[string(m[1])], _ = strconv.ParseFloat(string(m[2]), 64)
	}
	if len(all) > 0 {
		return all, nil
	}
	r, err := trace.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	var first, last trace.Time
	for {
		e, err := r.ReadEvent()
		if errors.Is(err, io.EOF) {
			return map[string]float64{"elapsed": float64(last - first)}, nil
		}
		if err != nil {
			return nil, err
		}
		if last = e.Time(); first == 0 {
			first = last
		}
	}
}

// slower is how many times what it was a cost is, in the geometric mean of those that are known of both.
func slower(before, after map[string]float64) float64 {
	sum, n := 0.0, 0.0
	for name, x := range before {
		if y, ok := after[name]; ok {
			sum, n = sum+math.Log(y/x), n+1
		}
	}
	return math.Exp(sum / max(1, n))
}

// judgePlanted prints what gmpscope says about each recording, and how often it is right.
func judgePlanted(flags *flag.FlagSet) cli.Do {
	dir := flags.String("dir", "planted", "the recordings are in the folder `DIR`")
	program := flags.String("gmpscope", "gmpscope", "the `PROGRAM` to run")
	return func(ctx context.Context, _ []string, stdout io.Writer) error {
		files, err := filepath.Glob(filepath.Join(*dir, "*.json"))
		if err != nil {
			return err
		}
		kinds, mechanisms := map[string]*tally{}, map[string]*tally{}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			var l label
			if err := json.Unmarshal(text, &l); err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
			healthy, err := look(ctx, *program, l.trace(*dir, "healthy"))
			if err != nil {
				return err
			}
			wrong, err := look(ctx, *program, l.trace(*dir, "fault"))
			if err != nil {
				return err
			}
			fmt.Fprintf(stdout, "%s (%s, %s, %.1f times, %s)\n", l.Name, l.Kind, l.Mechanism, l.Effect, strings.Join(l.Culprit, " or "))
			fmt.Fprintf(stdout, "    healthy: %s: %s\n    fault %s: %s: %s\n", healthy.Status, healthy.Headline, l.seen(wrong), wrong.Status, wrong.Headline)
			for _, t := range []*tally{at(kinds, l.Kind), at(kinds, "all"), at(mechanisms, l.Mechanism)} {
				t.count(&l, healthy, wrong)
			}
		}
		for _, m := range []map[string]*tally{kinds, mechanisms} {
			fmt.Fprintf(stdout, "\n%-16s %6s %13s %6s %9s %7s\n", "", "traces", "healthy loud", "loud", "headline", "screen")
			for _, name := range slices.Sorted(maps.Keys(m)) {
				t := m[name]
				fmt.Fprintf(stdout, "%-16s %6d %13d %6d %9d %7d\n", name, t.all, t.falseAlarm, t.loud, t.headline, t.screen)
			}
		}
		return nil
	}
}

// screenLines of the text are seen without scrolling.
const screenLines = 24

// A view is what somebody sees first.
type view struct {
	Status, Headline string
	screen           string
}

func (v view) loud() bool { return v.Status == "warning" || v.Status == "critical" }

func look(ctx context.Context, program, trace string) (view, error) {
	var doc struct{ Verdict view }
	text, err := exec.CommandContext(ctx, program, "analyze", "--quiet", "--format", "json", trace).Output()
	if err == nil {
		err = json.Unmarshal(text, &doc)
	}
	if err == nil {
		text, err = exec.CommandContext(ctx, program, "analyze", "--quiet", trace).Output()
	}
	if err != nil {
		return view{}, fmt.Errorf("%s: %w", trace, err)
	}
	lines := bytes.SplitAfterN(text, []byte("\n"), screenLines+1)
	doc.Verdict.screen = string(bytes.Join(lines[:min(len(lines), screenLines)], nil))
	return doc.Verdict, nil
}

// named reports whether a text names the culprit.
func (l *label) named(text string) bool {
	return slices.ContainsFunc(l.Culprit, func(f string) bool { return strings.Contains(text, f) })
}

func (l *label) seen(v view) string {
	switch {
	case !v.loud():
		return "MISSED"
	case l.named(v.Headline):
		return "right"
	case l.named(v.screen):
		return "on the first screen"
	}
	return "WRONG"
}

// A tally counts recordings.
type tally struct{ all, falseAlarm, loud, headline, screen int }

func at(m map[string]*tally, name string) *tally {
	if m[name] == nil {
		m[name] = &tally{}
	}
	return m[name]
}

func (t *tally) count(l *label, healthy, wrong view) {
	t.all++
	if healthy.loud() {
		t.falseAlarm++
	}
	if !wrong.loud() {
		return
	}
	t.loud++
	if l.named(wrong.Headline) {
		t.headline++
	}
	if l.named(wrong.Headline) || l.named(wrong.screen) {
		t.screen++
	}
}
