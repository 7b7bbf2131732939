package bench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/lab/usage"
)

// cost is what one process took.
type cost struct {
	Wall, CPU time.Duration
	Memory    int64 // peak resident bytes; 0 if not known here
}

// tool is something that reads a trace.
type tool struct {
	name string
	argv func(file string) []string
	peer bool     // another program, which may fail
	once bool     // it runs in the first round only
	env  []string // besides the environment
	drop bool     // its output is so large that a file would measure the file system
}

// peers are other programs that read traces, each told to end after reading.
var peers = []tool{
	{name: "go tool trace -pprof=sched", argv: func(file string) []string { return []string{"go", "tool", "trace", "-pprof=sched", file} }, peer: true, once: true},
	{name: "gotraceui's parser", argv: func(file string) []string { return []string{"gotraceui", "-debug.exit-after-parsing", file} }, peer: true, once: true},
}

const (
	plainLoop = "plain loop"
	analysis  = "analyze"
	earlier   = "analyze, before"
	oneCore   = "analyze, GOMAXPROCS=1"
	// central is the name of the trace that is looked at more closely.
	central = "mixed"
)

// tools returns what is measured on a trace: report, dump and the peers only where it is
// looked at closely. The peers need so much memory that they meet one load only.
func (b *bench) tools(t spec) []tool {
	own := func(args ...string) func(string) []string {
		return func(file string) []string {
			return append(append([]string{b.gmpscope}, args...), file)
		}
	}
	tools := []tool{
		{name: plainLoop, argv: func(file string) []string { return []string{b.self, "bench", "plain", file} }},
		{name: analysis, argv: own("analyze", "--format", "json")},
		{name: oneCore, argv: own("analyze", "--format", "json"), env: []string{"GOMAXPROCS=1"}, once: true},
	}
	if b.before != "" {
		tools = append(tools, tool{name: earlier, argv: func(file string) []string { return []string{b.before, "analyze", "--format", "json", file} }})
	}
	if !t.closely {
		return tools
	}
	tools = append(tools, tool{name: "report", argv: own("report", "--no-fetch", "-o", filepath.Join(b.dir, "report.html"))})
	tools = append(tools, tool{name: "dump", argv: own("dump"), drop: true})
	viewers := tool{name: "go tool trace, until its page answers", argv: func(file string) []string { return []string{b.self, "bench", "viewer", file} }, peer: true, once: true}
	for _, p := range append(peers, viewers) {
		if _, err := exec.LookPath(p.argv("")[0]); err == nil && t.name == central {
			tools = append(tools, p)
		}
	}
	return tools
}

// measured is what the tools took for a trace.
type measured struct {
	spec
	facts
	file            string
	tools           []string
	costs           map[string][]cost // of each tool, a round each
	fails           map[string]string // why a tool has no costs
	packages, steps []share           // of the CPU time of an analysis
}

// measure makes a trace and runs the tools on it in turns.
func (b *bench) measure(ctx context.Context, t spec) (*measured, error) {
	file, f, err := b.made(ctx, t)
	if err != nil {
		return nil, err
	}
	m := &measured{spec: t, facts: f, file: file}
	return m, b.take(ctx, m)
}

// take runs the tools on a trace in turns.
func (b *bench) take(ctx context.Context, m *measured) error {
	m.costs, m.fails = make(map[string][]cost), make(map[string]string)
	for round := range b.rounds {
		fmt.Fprintf(b.log, "%s: round %d of %d\n", m.title, round+1, b.rounds)
		for _, tool := range b.tools(m.spec) {
			if round == 0 {
				m.tools = append(m.tools, tool.name)
			} else if tool.once {
				continue
			}
			c, err := b.cost(ctx, tool.argv(m.file), tool.env, tool.drop)
			switch {
			case err != nil && tool.peer && ctx.Err() == nil:
				m.fails[tool.name] = err.Error()
			case err != nil:
				return fmt.Errorf("%s: %w", tool.name, err)
			default:
				m.costs[tool.name] = append(m.costs[tool.name], c)
			}
		}
	}
	return nil
}

// cost runs a program with its output to a file, as a shell would, or, if it is to be
// dropped, to the null device.
func (b *bench) cost(ctx context.Context, argv, env []string, drop bool) (cost, error) {
	name := filepath.Join(b.dir, "output")
	if drop {
		name = os.DevNull
	} else {
		defer os.Remove(name)
	}
	out, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return cost{}, err
	}
	defer out.Close()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdout, cmd.Env = out, append(os.Environ(), env...)
	u := usage.Run(cmd)
	if u.Exit != 0 {
		return cost{}, fmt.Errorf("exit code %d: %s", u.Exit, u.Said)
	}
	return cost{Wall: u.Wall, CPU: u.CPU, Memory: u.Memory}, nil
}

// ratios are what a tool took, round by round, as a multiple of the plain loop's.
func (m *measured) ratios(tool string, of func(cost) float64) []float64 {
	var out []float64
	for i, c := range m.costs[tool] {
		out = append(out, of(c)/of(m.costs[plainLoop][i]))
	}
	return out
}

// typical is the median of what a tool took.
func (m *measured) typical(tool string, of func(cost) float64) float64 {
	var all []float64
	for _, c := range m.costs[tool] {
		all = append(all, of(c))
	}
	return quantity.Median(all)
}

func wallSeconds(c cost) float64 { return c.Wall.Seconds() }
func cpuSeconds(c cost) float64  { return c.CPU.Seconds() }
