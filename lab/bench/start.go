package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// megabyte is the name of the trace by which the start is measured.
const megabyte = "megabyte"

// startRuns is how often a command is started: it takes a moment only.
const startRuns = 21

// started is how long a command took until it had printed something, and until its end:
// medians.
type started struct {
	Command    string
	First, End time.Duration
}

// starts measures how soon commands answer.
func (b *bench) starts(ctx context.Context, file string) ([]started, error) {
	var out []started
	for _, args := range [][]string{{"version"}, {"analyze", file}, {"analyze", "--format", "json", file}} {
		var first, end []time.Duration
		for range startRuns {
			x, y, err := answer(exec.CommandContext(ctx, b.gmpscope, args...))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", strings.Join(args, " "), err)
			}
			first, end = append(first, x), append(end, y)
		}
		slices.Sort(first)
		slices.Sort(end)
		out = append(out, started{strings.ReplaceAll(strings.Join(args, " "), file, "TRACE"), first[startRuns/2], end[startRuns/2]})
	}
	return out, nil
}

// answer runs a command, and returns when it has printed its first byte, and when it has
// ended.
func answer(cmd *exec.Cmd) (first, end time.Duration, err error) {
	w := &firstByte{begin: time.Now()}
	cmd.Stdout = w
	if err := cmd.Run(); err != nil {
		return 0, 0, err
	}
	return w.at, time.Since(w.begin), nil
}

// firstByte notes when something is written to it first.
type firstByte struct {
	begin time.Time
	at    time.Duration
}

func (w *firstByte) Write(p []byte) (int, error) {
	if w.at == 0 {
		w.at = time.Since(w.begin)
	}
	return len(p), nil
}

// viewer is a child: viewer FILE. It ends when the page of "go tool trace" answers.
func viewer(ctx context.Context, args []string, _ io.Writer) error {
	if len(args) != 1 {
		return errors.New("viewer wants a file")
	}
	program, err := exec.CommandContext(ctx, "go", "tool", "-n", "trace").Output()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	cmd := exec.CommandContext(ctx, strings.TrimSpace(string(program)), "-http=127.0.0.1:0", args[0])
	cmd.Env = append(os.Environ(), "BROWSER=true") // which opens nothing
	said, err := cmd.StderrPipe()
	if err != nil {
		cancel()
		return err
	}
	if err := cmd.Start(); err != nil {
		cancel()
		return err
	}
	defer cmd.Wait()
	defer cancel()
	for lines := bufio.NewScanner(said); lines.Scan(); {
		if at := strings.Index(lines.Text(), "http://"); at >= 0 {
			page, err := http.Get(lines.Text()[at:])
			if err != nil {
				return err
			}
			return page.Body.Close()
		}
	}
	return errors.New("go tool trace names no address")
}

// start is the part of the page about it.
func (p *page) start(w *strings.Builder) {
	m := p.find(megabyte)
	if len(p.starts) == 0 || m == nil {
		return
	}
	fmt.Fprintf(w, "## The start\n\nUntil the first byte of the output, and until the end: the median of %d runs. The trace has %.1f MB and %s events.\n\n",
		startRuns, float64(m.Bytes)/1e6, millions(m.Events))
	fmt.Fprintf(w, "| gmpscope … | first byte | end |\n|---|---:|---:|\n")
	for _, s := range p.starts {
		fmt.Fprintf(w, "| %s | %.0f ms | %.0f ms |\n", s.Command, s.First.Seconds()*1e3, s.End.Seconds()*1e3)
	}
	w.WriteString("\n")
}
