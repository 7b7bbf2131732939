package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/internal/files"
)

type recording struct {
	seconds int
	maxSize size
	output  string
	quiet   bool
	cpu     bool
	kernel  string // the file for the kernel's records; "" for none
	pid     int    // the process at the URL
	labels  []string

	alternate bool
	runs      int // of each command
}

func (r *recording) flags(f *pflag.FlagSet) {
	r.maxSize = defaultMaxSize
	f.IntVar(&r.seconds, "seconds", 5, "record for `N` seconds, where the URL does not say")
	f.Var(&r.maxSize, "max-size", "of a URL, and of the kernel's records, write at most `SIZE`, such as 512MiB, and keep that")
	f.StringVarP(&r.output, "output", "o", "trace.out", "write the trace to `FILE`")
	f.BoolVar(&r.cpu, "cpu", false, "run the CPU profiler meanwhile: its samples are then in the trace")
	f.StringVar(&r.kernel, "kernel-output", "", "record the scheduler of the kernel, too, and write that to `FILE`, packed if it ends in .zst or .gz; Linux, as root")
	f.IntVar(&r.pid, "pid", 0, "with a URL: the process `ID` of the program, on this machine")
	f.StringArrayVar(&r.labels, "label", nil, "keep the label `NAME=VALUE` with the trace, such as service=payments; can be repeated")
	f.BoolVar(&r.alternate, "alternate", false, "record two commands in turns, into the folder that -o names")
	f.IntVar(&r.runs, "runs", 5, "with --alternate: run each command `N` times")
	f.BoolVarP(&r.quiet, "quiet", "q", false, "no progress on standard error")
}

// check is an error if the flags make no sense for a program at a URL, or, if it is not
// one, for a command.
func (r *recording) check(isURL bool) error {
	switch {
	case r.seconds < 1:
		return usagef("--seconds %d: must be 1 or more", r.seconds)
	case r.output == "" || r.output == "-":
		return usagef("-o needs a file")
	case r.kernel == "-":
		return usagef("--kernel-output needs a file")
	case r.runs < 1:
		return usagef("--runs %d: must be 1 or more", r.runs)
	case r.alternate && (isURL || r.kernel != ""):
		return usagef("--alternate is for two commands, without --kernel-output")
	case r.pid < 0:
		return usagef("--pid %d: is no process", r.pid)
	case r.pid != 0 && !isURL:
		return usagef("--pid is for a URL")
	case r.kernel != "" && isURL && r.pid == 0:
		return usagef("--kernel-output needs --pid with a URL: on whose CPUs, and that it runs on this machine")
	}
	return nil
}

func (a *app) record() *cobra.Command {
	var (
		r   recording
		cmd *cobra.Command
	)
	cmd = &cobra.Command{
		Use:   "record URL | -- go test ... | -- PROGRAM ... | --alternate -- OLD ... --and NEW ...",
		Short: "Record a trace of a running program, of tests, or of a program that it runs",
		Long: `Record asks a running program that serves net/http/pprof for a trace, or runs
"go test" with the flag -trace, and writes the trace to a file.

A trace that breaks off is kept as far as it came, and the command fails: if the
program or the connection ends early, the tests fail, or you interrupt it. So is
one that the program does not end: it gets --seconds, and as long again or 30
seconds to answer and transfer, whichever is more; and at most --max-size is
written, or what the disk has room for. Where a file has the name already, that
stays, and such a part gets a name beside it, such as trace.part.out. An answer
that is no trace is not kept.

With --cpu the CPU profiler runs meanwhile, and its samples are in the trace. They
prove, or rule out, that threads with a P lacked a CPU (gmpscope explain
os-preemption), and go tool trace shows them. Of a running program, its CPU
profile is asked for beside the trace; where that fails, for instance since
another one is being taken, a warning says so. "go test" gets -cpuprofile.

Beside the trace lies what it cannot show, in the file TRACE.meta.json: the CPU
quota and what it did meanwhile, the CPUs and the memory that the process may use,
its build, and what --label says. The other commands read it by themselves. It
replaces that of a trace before; another file of that name stays, with a warning. Of a
program at a URL that takes --pid; a command is taken to stay in the control group
that it was started in.

Other programs record themselves: by runtime/trace.Start and Stop, or, to keep
the last seconds before something went wrong, by runtime/trace.FlightRecorder
(Go 1.25). One that record runs finds in the variable GMPSCOPE_TRACE which file to
write its trace to.

With --alternate two commands are recorded in turns, --runs times each, into the
folder that -o names: old.1.trace, new.1.trace, old.2.trace and so on, for
gmpscope diff DIR. So the machine does to both what it does meanwhile. No shell
takes part: what stands before and after --and are the words of the commands.

With --kernel-output the scheduler of the kernel is recorded meanwhile: which
thread had which CPU, of all programs on the CPUs that this one may use. That
needs Linux, its tracefs, and root. Who has perf instead runs, beside record,

  perf record -a -k mono -e sched:sched_switch,sched:sched_waking -- sleep 10
  perf script --ns -F comm,pid,tid,cpu,time,event,trace >kernel.txt`,
		Example: `  gmpscope record localhost:6060 --seconds 5 -o live.trace
  gmpscope record -o test.trace -- go test -run Load ./server
  gmpscope record --cpu -o test.trace -- go test -run Load ./server
  gmpscope record --alternate --runs 5 -o runs -- ./old --and ./new
  gmpscope record --kernel-output kernel.zst -o test.trace -- go test -run Load ./server
  gmpscope report live.trace`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 || args[0] == "" {
				return usagef("name the URL of a program, or, after --, a command")
			}
			return nil
		},
		RunE: a.do(func(ctx context.Context, args []string) error {
			isURL := strings.Contains(args[0], "://") || hostPort.MatchString(args[0])
			if err := r.check(isURL); err != nil {
				return err
			}
			if r.alternate {
				return a.recordAlternately(ctx, args, cmd.ArgsLenAtDash() == 0, r)
			}
			if !isURL {
				return a.recordCommand(ctx, args, cmd.ArgsLenAtDash() == 0, r)
			}
			if len(args) > 1 {
				return usagef("one URL at a time, but there are %d arguments", len(args))
			}
			u, limit, err := traceURL(args[0], r.seconds)
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeoutCause(ctx, limit, tooLong(limit))
			defer cancel()
			if r.cpu {
				return a.recordWithProfile(ctx, u, r)
			}
			return a.recordURL(ctx, u, r)
		}),
	}
	r.flags(cmd.Flags())
	return cmd
}

// hostPort is a host with a port, which without a scheme means http.
var hostPort = regexp.MustCompile(`^(\[[0-9a-fA-F:.]+\]|[\w.-]*):\d+(/|$)`)

// traceURL returns where a program gives its trace, the place that net/http/pprof
// uses unless the URL names another one, and how long that may take.
func traceURL(raw string, seconds int) (string, time.Duration, error) {
	if hostPort.MatchString(raw) {
		raw = "http://" + raw
	}
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return "", 0, usagef("%s is no URL of a program: give one such as http://host:port", input.ShownName(raw))
	}
	if strings.Trim(u.Path, "/") == "" {
		u.Path = "/debug/pprof/trace"
	}
	q := u.Query()
	if !q.Has("seconds") {
		q.Set("seconds", strconv.Itoa(seconds))
		u.RawQuery = q.Encode()
	}
	asked, err := strconv.ParseFloat(q.Get("seconds"), 64)
	if err != nil || !(asked > 0) {
		asked = 1 // as net/http/pprof takes it
	}
	return u.String(), recordLimit(asked), nil
}

const (
	// defaultMaxSize is room for the trace of a busy server over a minute.
	defaultMaxSize = 1 << 30

	// transferTime is what a program gets, beside the time that it records, to
	// answer and to transfer what is left; for a long recording, as long again.
	transferTime = 30 * time.Second

	maxRecording = 1e6 // seconds; a time.Duration has room for more
)

// recordLimit returns how long a program may take for a trace of some seconds.
func recordLimit(seconds float64) time.Duration {
	d := time.Duration(min(seconds, maxRecording) * float64(time.Second))
	return d + max(d, transferTime)
}

func tooLong(limit time.Duration) error {
	return fmt.Errorf("the program did not end the trace within %v", limit)
}

func (a *app) recordURL(ctx context.Context, u string, r recording) error {
	out, err := a.create(ctx, "-o", r.output)
	if err != nil {
		return err
	}
	defer out.Discard()
	d, err := a.describe(ctx, out, &r, nil)
	if err != nil {
		return err
	}
	defer d.discard()
	kernel, err := a.recordKernel(ctx, r)
	if err != nil {
		return err
	}
	defer kernel.discard()
	p := a.progress(r.quiet)
	defer p.Done()
	saved, err := input.Save(ctx, u, out, int64(r.maxSize), input.Options{Progress: p.Update})
	if err != nil {
		return err
	}
	kernel.stop()
	name, asked, err := a.keep(ctx, out, saved.Cut == nil, d)
	if err != nil {
		return kernel.finish(err)
	}
	return kernel.finish(a.savedURL(ctx, u, r, saved, name, asked))
}

// keep gives a recording its name, or, if it is a part of a trace and there is a file of that name,
// another beside it, and writes what is known of it beside that. It reports which name, and whether the
// recording has the one asked for.
func (a *app) keep(ctx context.Context, out *files.Output, ended bool, d *described) (name string, asked bool, err error) {
	file, _ := out.Path()
	asked = true
	name, err = out.CommitIf(func() bool {
		asked = ended && wholeTrace(file)
		return asked
	})
	if err == nil {
		a.writeMeta(context.WithoutCancel(ctx), name, asked, d)
	}
	return name, asked, err
}

// wholeTrace reports whether a file holds a trace without losses, up to its end.
func wholeTrace(file string) bool {
	src, err := input.Open(context.Background(), file, input.Options{})
	if err != nil {
		return false
	}
	defer src.Close()
	for complete := false; ; {
		g, err := src.Next()
		if err != nil {
			return complete && errors.Is(err, io.EOF) && src.Stats().LossCount == 0
		}
		complete = g.Complete
	}
}

// beside reports of a part of a trace why it has another name than that asked for.
func beside(asked bool, r recording) string {
	if asked {
		return ""
	}
	return fmt.Sprintf("; %s is what it was", r.output)
}

// savedURL reports what came of a trace that was asked for at a URL, and is in a file.
func (a *app) savedURL(ctx context.Context, u string, r recording, saved input.Saved, file string, asked bool) error {
	part := fmt.Sprintf("in %s, an incomplete trace%s", file, beside(asked, r))
	switch {
	case saved.Cut == nil && asked:
		return a.printSize(file, saved.Bytes)
	case saved.Cut == nil:
		return fmt.Errorf("recording %s: the answer ends early: kept the %d bytes that came %s", input.ShownName(u), saved.Bytes, part)
	case errors.Is(ctx.Err(), context.Canceled):
		a.warn(fmt.Sprintf("interrupted: kept the %d bytes that came %s", saved.Bytes, part))
		return context.Cause(ctx)
	case errors.Is(saved.Cut, input.ErrTooLarge):
		return fmt.Errorf("recording: %w of --max-size %v: kept the first %d bytes %s", saved.Cut, r.maxSize, saved.Bytes, part)
	}
	return fmt.Errorf("recording %s: %w: kept the %d bytes that came %s", input.ShownName(u), saved.Cut, saved.Bytes, part)
}
