//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/fleet"
	"github.com/gmpscope/gmpscope/internal/testkit/tracetest"
	"github.com/gmpscope/gmpscope/report/html/echarts"
)

// process is gmpscope as a process of its own.
func process(t *testing.T, dir string, args ...string) (cmd *exec.Cmd, stdout, stderr *bytes.Buffer) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	stdout, stderr = new(bytes.Buffer), new(bytes.Buffer)
	// TestMain takes the program for gmpscope by that name.
	cmd = &exec.Cmd{Path: self, Args: append([]string{"gmpscope"}, args...), Dir: dir, Stdout: stdout, Stderr: stderr}
	return cmd, stdout, stderr
}

// watchdog is when a process has hung.
const watchdog = 5 * time.Minute

// TestInterruptPartial interrupts commands that wait for the rest of a trace:
// they write what they know, say that it is not all, and fail.
func TestInterruptPartial(t *testing.T) {
	whole := tracetest.Recorded(t, "real/manygens-io-go1.25-p4")
	part := whole[:len(whole)/2]
	for _, c := range []struct {
		name  string
		stdin bool
		args  []string
		check func(t *testing.T, dir, stdout string) (late bool) // the interrupt came late enough
	}{
		{"analyze a named pipe", false, []string{"analyze", "pipe", "--format", "json"}, func(t *testing.T, _, stdout string) bool {
			var doc struct{ Trace analyze.Trace }
			if err := json.Unmarshal([]byte(stdout), &doc); err != nil {
				t.Fatalf("%v in %.200q", err, stdout)
			}
			tr := doc.Trace
			if !tr.Interrupted || !tr.Incomplete || tr.LostBytes != 0 || tr.LostNs != 0 {
				t.Errorf("%+v", tr)
			}
			return tr.Generations >= 3
		}},
		{"analyze standard input", true, []string{"analyze", "-", "--reference"}, func(t *testing.T, _, stdout string) bool {
			if !strings.Contains(strings.Join(strings.Fields(stdout), " "), "The analysis was interrupted: it is about the first ") {
				t.Errorf("the text does not say so: %.4000s", stdout)
			}
			return true
		}},
		{"report of a named pipe", false, []string{"report", "pipe", "--no-fetch", "-o", "out.html"}, func(t *testing.T, dir, _ string) bool {
			page, err := os.ReadFile(filepath.Join(dir, "out.html"))
			if err != nil || !bytes.Contains(page, []byte("The analysis was interrupted")) || !bytes.HasSuffix(bytes.TrimSpace(page), []byte("</html>")) {
				t.Errorf("no report that says so: %v", err)
			}
			return true
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			// How long the program takes for what it got, only a clock could tell: an interrupt that came too early to leave
			// something is tried again, later.
			for wait := 250 * time.Millisecond; wait < watchdog; wait *= 3 {
				dir := t.TempDir()
				stdout, stderr := interruptedAfter(t, dir, part, wait, c.stdin, c.args)
				if stderr == "gmpscope: interrupted\n" && stdout == "" {
					if files, err := os.ReadDir(dir); err != nil || len(files) > 1 {
						t.Fatalf("left behind: %v, %v", files, err)
					}
					continue
				}
				if !strings.HasPrefix(stderr, "gmpscope: warning: interrupted: this is about the first ") || !strings.HasSuffix(stderr, "\ngmpscope: interrupted\n") || strings.Count(stderr, "\n") != 2 {
					t.Errorf("stderr is %q", stderr)
				}
				if c.check(t, dir, stdout) || t.Failed() {
					return
				}
			}
			t.Error("it never gets far enough")
		})
	}
}

// interruptedAfter gives a command a part of a trace, and interrupts it a while
// later, when it waits for more.
func interruptedAfter(t *testing.T, dir string, part []byte, wait time.Duration, stdin bool, args []string) (stdout, stderr string) {
	t.Helper()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd, out, errs := process(t, dir, args...)
	var w io.WriteCloser
	if stdin {
		var err error
		if w, err = cmd.StdinPipe(); err != nil {
			t.Fatal(err)
		}
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	dog := time.AfterFunc(watchdog, func() { cmd.Process.Kill() })
	defer dog.Stop()
	if w == nil {
		f, err := os.OpenFile(pipe, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		w = f
	}
	defer w.Close()
	if _, err := w.Write(part); err != nil {
		t.Fatal(err)
	}
	time.Sleep(wait)
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != exitFailure {
		t.Fatalf("%v; stderr %q", err, errs)
	}
	return out.String(), errs.String()
}

// growing waits until a file in dir, which is being written, has at least n
// bytes.
func growing(t *testing.T, dir string, n int64) {
	t.Helper()
	for range watchdog / time.Millisecond {
		files, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if st, err := f.Info(); err == nil && strings.HasSuffix(f.Name(), ".tmp") && st.Size() >= n {
				return
			}
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("nothing is written")
}

// TestInterruptRecord interrupts recordings: what came is kept, and said, and the
// tests that ran end, too.
func TestInterruptRecord(t *testing.T) {
	half := tracetest.Recorded(t, "uneven-go1.26-p4")
	half = half[:len(half)/2]
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Write(half)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	defer srv.Close()
	tests := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":    "module x\n\ngo 1.22\n",
		"x_test.go": "package x\n\nimport (\n\t\"os\"\n\t\"strconv\"\n\t\"testing\"\n\t\"time\"\n)\n\nfunc TestX(*testing.T) {\n\tos.WriteFile(\"pid\", []byte(strconv.Itoa(os.Getpid())+\"\\n\"), 0o600)\n\ttime.Sleep(time.Hour)\n}\n",
	} {
		if err := os.WriteFile(filepath.Join(tests, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		dir  string
		sig  os.Signal
		args []string
		size int64
	}{
		{t.TempDir(), os.Interrupt, []string{srv.URL}, int64(len(half))},
		{t.TempDir(), syscall.SIGTERM, []string{srv.URL}, int64(len(half))},
		{tests, syscall.SIGTERM, []string{"--", "go", "test", "-count=1", "."}, 17},
	} {
		cmd, stdout, stderr := process(t, c.dir, append([]string{"record", "-o", "x.trace"}, c.args...)...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		dog := time.AfterFunc(watchdog, func() { cmd.Process.Kill() })
		growing(t, c.dir, c.size)
		var pid int
		if c.dir == tests {
			pid = written(t, filepath.Join(c.dir, "pid"))
		}
		if err := cmd.Process.Signal(c.sig); err != nil {
			t.Fatal(err)
		}
		cmd.Wait()
		dog.Stop()
		st, err := os.Stat(filepath.Join(c.dir, "x.trace"))
		if err != nil || st.Size() < c.size {
			t.Fatalf("%q, %v: kept %v, %v; stderr %q", c.args, c.sig, st, err, stderr)
		}
		says := fmt.Sprintf("gmpscope: warning: interrupted: kept the %d bytes that came in x.trace, an incomplete trace\ngmpscope: interrupted\n", st.Size())
		if cmd.ProcessState.ExitCode() != exitFailure || stdout.Len() > 0 || !strings.HasSuffix(stderr.String(), says) {
			t.Errorf("%q, %v: %v, stdout %q, stderr %q, want %q", c.args, c.sig, cmd.ProcessState, stdout, stderr, says)
		}
		if c.dir != tests {
			continue
		}
		if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil && !bytes.Contains(stat, []byte(") Z ")) {
			syscall.Kill(pid, syscall.SIGKILL)
			t.Errorf("the test goes on: %s", stat)
		}
	}
}

// written waits until a line with a number is in a file, and returns the number.
func written(t *testing.T, file string) int {
	t.Helper()
	for deadline := time.Now().Add(watchdog); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		b, err := os.ReadFile(file)
		if err != nil || !bytes.HasSuffix(b, []byte("\n")) {
			continue
		}
		n, err := strconv.Atoi(string(bytes.TrimSpace(b)))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	t.Fatalf("nothing was written to %s", file)
	return 0
}

// TestProxySecrets has proxies that do not work, and one that repeats all it is
// told: no error has what is secret in their URLs.
func TestProxySecrets(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		fmt.Fprintf(rw, "HTTP/1.1 407 s3cr3tuser with s3cr3tpassword\r\nConnection: close\r\n\r\n%s s3cr3tuser s3cr3ttoken\n", r.Header.Get("Proxy-Authorization"))
		rw.Flush()
		conn.Close()
	}))
	defer srv.Close()
	host := strings.TrimPrefix(srv.URL, "http://")
	for _, proxy := range []string{
		"http://s3cr3tuser:s3cr3tpassword@" + host + "/#s3cr3tfragment", "http://s3cr3tuser:s3cr3tpassword@host\x7f", "ftp://s3cr3tuser:s3cr3tpassword@127.0.0.1:1",
		"s3cr3tuser:s3cr3tpassword@127.0.0.1:1", "socks5://s3cr3tuser:s3cr3tpassword@127.0.0.1:1",
	} {
		for _, args := range [][]string{
			{"analyze", "http://example.invalid/?token=s3cr3ttoken"},
			{"record", "https://example.invalid/?token=s3cr3ttoken", "-o", "x"},
			{"report", "t.gz"}, // which fetches ECharts, where it was not built in
		} {
			dir := t.TempDir()
			if b, err := os.ReadFile(filepath.Join(traces, "single-go1.26-p1.trace.gz")); err != nil || os.WriteFile(filepath.Join(dir, "t.gz"), b, 0o600) != nil {
				t.Fatal(err)
			}
			cmd, stdout, stderr := process(t, dir, args...)
			cmd.Env = append(os.Environ(), "HTTP_PROXY="+proxy, "HTTPS_PROXY="+proxy, "http_proxy=", "https_proxy=", "XDG_CACHE_HOME="+filepath.Join(dir, "cache"))
			cmd.Run()
			auth := base64.StdEncoding.EncodeToString([]byte("s3cr3tuser:s3cr3tpassword"))
			page, _ := os.ReadFile(filepath.Join(dir, "t.html"))
			text := stdout.String() + stderr.String() + string(page)
			if strings.Contains(text, "s3cr3t") || strings.Contains(text, auth) || args[0] != "report" && stderr.Len() == 0 {
				t.Errorf("%s by %s: %v: %s%s", args, proxy, cmd.ProcessState, stdout, stderr)
			}
		}
	}
}

// TestFetchFailsOnce has no way to the registry: the first report says so, the
// second is silent, and the file that the first names brings the next try.
func TestFetchFailsOnce(t *testing.T) {
	if _, ok := echarts.Embedded(); ok {
		t.Skip("this build has ECharts embedded")
	}
	dir := t.TempDir()
	trace, err := filepath.Abs(filepath.Join(traces, "single-go1.26-p1.trace.gz"))
	if err != nil {
		t.Fatal(err)
	}
	report := func(lines int) string {
		t.Helper()
		cmd, _, stderr := process(t, dir, "report", trace)
		cmd.Env = append(os.Environ(), "HTTPS_PROXY=http://127.0.0.1:1", "https_proxy=", "NO_PROXY=", "no_proxy=", "XDG_CACHE_HOME="+dir, "HOME="+dir)
		if err := cmd.Run(); err != nil || strings.Count(stderr.String(), "\n") != lines {
			t.Errorf("%v, stderr %q, want %d lines", err, stderr, lines)
		}
		return stderr.String()
	}
	_, file, ok := strings.Cut(report(2), "not tried again for a day, unless you remove ")
	if !ok {
		t.Fatal("it does not say how to have it tried")
	}
	report(0)
	if err := os.Remove(strings.TrimSpace(file)); err != nil {
		t.Fatal(err)
	}
	report(2)
}

// TestInterruptTwice: the second signal ends what does not heed the first one,
// and the temporary file goes, too.
func TestInterruptTwice(t *testing.T) {
	dir := t.TempDir()
	cmd, _, stderr := process(t, dir)
	cmd.Args, cmd.Stdout = []string{"stuck"}, nil
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		if !lines.Scan() {
			t.Fatal("it ended: ", stderr)
		}
		if err := cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
	cmd.Wait()
	if s := cmd.ProcessState.Sys().(syscall.WaitStatus); !s.Signaled() || s.Signal() != syscall.SIGTERM || stderr.Len() > 0 {
		t.Errorf("%v, stderr %q", cmd.ProcessState, stderr)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestHangUp ends a report, as every signal does that asks for it: exit code 1,
// one line, nothing left behind.
func TestHangUp(t *testing.T) {
	// Where the test runs under nohup, what it starts would ignore the signal.
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, syscall.SIGHUP)
	defer signal.Stop(heard)
	for _, s := range []os.Signal{syscall.SIGHUP, syscall.SIGTERM, os.Interrupt} {
		dir := t.TempDir()
		cmd, stdout, stderr := process(t, dir, "report", "-", "-o", "out")
		stdin, err := cmd.StdinPipe() // stays open
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for begun := false; !begun; time.Sleep(time.Millisecond) {
			temp, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			begun = len(temp) > 0
		}
		if err := cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
		cmd.Wait()
		stdin.Close()
		if cmd.ProcessState.ExitCode() != exitFailure || stdout.Len() > 0 || stderr.String() != "gmpscope: interrupted\n" {
			t.Errorf("%v: %v, stdout %q, stderr %q", s, cmd.ProcessState, stdout, stderr)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%v: left behind: %v, %v", s, left, err)
		}
	}
}

// TestInterruptStdin waits for what standard input has besides a trace: one interrupt ends that.
func TestInterruptStdin(t *testing.T) {
	trace, err := filepath.Abs(filepath.Join(traces, "steal-small-go1.26-p2.trace.gz"))
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"analyze", trace, "--kernel", "-"},
		{"report", trace, "--kernel", "-", "--no-fetch", "-o", "out"},
		{"fleet", "-"},
		{"fleet", "-", "-o", "out.sum"},
	} {
		dir := t.TempDir()
		ctx, cancel := context.WithCancel(t.Context())
		stdin := &waiting{cancel, make(chan struct{})}
		var stdout, stderr bytes.Buffer
		t.Chdir(dir)
		if code := run(ctx, args, stdin, &stdout, &stderr); code != exitFailure || !strings.HasSuffix(stderr.String(), "gmpscope: interrupted\n") {
			t.Errorf("%q: exit code %d, stderr %q", args, code, &stderr)
		}
		close(stdin.over)
		if left, err := filepath.Glob(".gmpscope-*"); err != nil || len(left) > 0 {
			t.Errorf("%q: left behind: %v, %v", args, left, err)
		}
	}
}

// waiting is an input that is interrupted when it is read, and gives nothing.
type waiting struct {
	interrupt func()
	over      chan struct{}
}

func (w *waiting) Read([]byte) (int, error) {
	w.interrupt()
	<-w.over
	return 0, io.EOF
}

// TestUnread writes to a pipe that nobody reads: the other outputs are there, and nothing else.
func TestUnread(t *testing.T) {
	trace, err := filepath.Abs(filepath.Join(traces, "steal-small-go1.26-p2.trace.gz"))
	if err != nil {
		t.Fatal(err)
	}
	many := filepath.Join(t.TempDir(), "many.sum")
	manyRecords(t, many)
	for _, c := range []struct {
		args []string
		left string
	}{
		{[]string{"report", trace, "--no-fetch", "-o", "out"}, "out"},
		{[]string{"diff", trace, trace, "-o", "out"}, "out"},
		{[]string{"check", trace, "--write-budget", "out"}, "out"},
		{[]string{"record", "-o", "out", "--", "sh", "-c", `cp "$0" "$GMPSCOPE_TRACE"`, trace}, "out out.meta.json"},
		{[]string{"fleet", many, "--format", "json"}, ""},
	} {
		dir := t.TempDir()
		pr, pw, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		pr.Close()
		cmd, _, stderr := process(t, dir, c.args...)
		cmd.Stdout = pw
		cmd.Env = append(os.Environ(), "TMPDIR="+dir)
		err = cmd.Run()
		pw.Close()
		if cmd.ProcessState.ExitCode() != exitFailure || strings.Contains(stderr.String(), "broken pipe") {
			t.Errorf("%q: %v, stderr %q", c.args, err, stderr)
		}
		var left []string
		files, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			left = append(left, f.Name())
		}
		if got := strings.Join(left, " "); got != c.left {
			t.Errorf("%q: left %q, want %q; stderr %q", c.args, got, c.left, stderr)
		}
	}
}

// manyRecords makes a file of so many summaries that they do not stay in memory.
func manyRecords(t *testing.T, name string) {
	t.Helper()
	r, err := fleet.Summarize(t.Context(), filepath.Join(traces, "steal-small-go1.26-p2.trace.gz"), fleet.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := fleet.NewWriter(f)
	for i := range 100 {
		r.Key = fmt.Sprintf("%064x", i)
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(nil); err != nil {
		t.Fatal(err)
	}
}

// TestInterruptPipe waits for the other end of a named pipe, which nobody opens:
// one interrupt ends that, whatever the pipe is for.
func TestInterruptPipe(t *testing.T) {
	trace := tracetest.Recorded(t, "steal-small-go1.26-p2")
	t.Chdir(t.TempDir())
	if err := errors.Join(os.WriteFile("trace", trace, 0o600), os.WriteFile("rules", nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"analyze", "pipe"},
		{"report", "pipe", "--no-fetch", "-o", "out"},
		{"report", "trace", "--no-fetch", "-o", "pipe"},
		{"check", "trace", "--budget", "pipe"},
		{"check", "trace", "--budget", "rules", "--baseline", "pipe"},
		{"diff", "pipe", "trace", "-o", "out"},
	} {
		for _, early := range []bool{true, false} {
			// Whoever waits to open a pipe stays behind, and would be the other end of the next.
			if err := errors.Join(os.RemoveAll("pipe"), syscall.Mkfifo("pipe", 0o600)); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			if early {
				cancel()
			} else {
				go cancel()
			}
			var stdout, stderr bytes.Buffer
			if code := run(ctx, args, nil, &stdout, &stderr); code != exitFailure || stdout.Len() > 0 || stderr.String() != "gmpscope: interrupted\n" {
				t.Errorf("%q: exit code %d, stdout %q, stderr %q", args, code, &stdout, &stderr)
			}
		}
	}
	if left, err := filepath.Glob(".gmpscope-*"); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestFileLimit has files that cannot get larger than 4 KiB, as on a full disk:
// whatever writes one fails with one line, and leaves none, but for what cannot be had again.
func TestFileLimit(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	trace, err := filepath.Abs(filepath.Join(traces, "uneven-go1.26-p4.trace.gz"))
	if err != nil {
		t.Fatal(err)
	}
	body := tracetest.Recorded(t, "uneven-go1.26-p4")
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(body) }))
	defer srv.Close()
	for _, args := range [][]string{
		{"report", trace, "--no-fetch", "-o", "out"},
		{"diff", trace, trace, "-o", "out"},
		{"record", srv.URL, "-o", "out"},
	} {
		dir := t.TempDir()
		cmd, stdout, stderr := process(t, dir, args...)
		self := cmd.Path
		cmd.Path, cmd.Args = sh, append([]string{"sh", "-c", `ulimit -f 8 && exec "$0" "$@"`, filepath.Join(dir, "gmpscope")}, args...)
		if err := os.Symlink(self, filepath.Join(dir, "gmpscope")); err != nil {
			t.Fatal(err)
		}
		cmd.Run()
		if s := stderr.String(); cmd.ProcessState.ExitCode() != exitFailure || stdout.Len() > 0 || strings.Count(s, "\n") != 1 || !strings.Contains(s, "writing out: "+syscall.EFBIG.Error()) {
			t.Errorf("%s: %v, stdout %q, stderr %q", args[0], cmd.ProcessState, stdout, s)
		}
		files, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		if args[0] == "record" {
			kept, err := os.ReadFile(filepath.Join(dir, "out"))
			says := fmt.Sprintf(": kept the %d bytes that came in out, an incomplete trace\n", len(kept))
			if err != nil || len(kept) < 1024 || !bytes.HasPrefix(body, kept) || !strings.HasSuffix(stderr.String(), says) {
				t.Errorf("record: kept %d bytes, %v; stderr %q", len(kept), err, stderr)
			}
			files = slices.DeleteFunc(files[1:], func(f os.DirEntry) bool { return f.Name() == "out.meta.json" })
		}
		if len(files) != 1 {
			t.Errorf("%s: left behind %v", args[0], files)
		}
	}
}

// TestDenied meets files and folders without permission: one line, exit code 1,
// nothing left behind. Root may do everything, so root's test does it as nobody.
func TestDenied(t *testing.T) {
	dir, err := os.MkdirTemp("", "denied") // within that of t.TempDir nobody else gets
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	trace, err := os.ReadFile(filepath.Join(traces, "uneven-go1.26-p4.trace.gz"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"t.gz", "secret.gz", "locked/t.gz"} {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, trace, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	const nobody = 65534
	root := os.Getuid() == 0
	if root {
		for _, name := range []string{".", "t.gz", "secret.gz", "locked"} {
			if err := os.Chown(filepath.Join(dir, name), nobody, nobody); err != nil {
				t.Fatal(err)
			}
		}
	}
	denied := func(args ...string) (code int, stdout, stderr string) {
		cmd, out, errs := process(t, dir, args...)
		if root {
			cmd.Path = "/proc/self/exe" // go test puts the program where only root gets
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		}
		if err := cmd.Run(); cmd.ProcessState == nil {
			if root {
				t.Skipf("gmpscope cannot be run as nobody: %v", err)
			}
			t.Fatal(err)
		}
		return cmd.ProcessState.ExitCode(), out.String(), errs.String()
	}
	if err := errors.Join(os.Chmod(dir, 0o755), os.Chmod(filepath.Join(dir, "secret.gz"), 0), os.Chmod(filepath.Join(dir, "locked"), 0)); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(filepath.Join(dir, "locked"), 0o700)
	if code, _, errs := denied("report", "t.gz", "--no-fetch"); code != exitOK {
		t.Fatalf("what is allowed fails: %s", errs)
	}
	for _, args := range [][]string{
		{"analyze", "secret.gz"},
		{"analyze", "locked/t.gz"},
		{"report", "t.gz", "--no-fetch", "-o", "locked/r.html"},
	} {
		if code, out, errs := denied(args...); code != exitFailure || out != "" || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, "permission denied") {
			t.Errorf("%v: exit code %d, stdout %q, stderr %q", args, code, out, errs)
		}
	}
	// A folder that may not be read is listed, and the others are read.
	code, out, errs := denied("fleet", ".", "--format", "json")
	if code != exitOK || !strings.Contains(out, `"traces":1,`) || !strings.Contains(errs, "gmpscope: warning: opening locked: permission denied\n") || !strings.Contains(errs, "opening secret.gz: permission denied") {
		t.Errorf("a folder with another that may not be read: exit code %d, stdout %.300q, stderr %q", code, out, errs)
	}
	// In a folder that lets nobody create a file, a report that is there is overwritten, or stays where that is not
	// allowed, either.
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "t.html"), []byte("an older report"), 0), os.Chmod(dir, 0o555)); err != nil {
		t.Fatal(err)
	}
	code, out, errs = denied("report", "t.gz", "--no-fetch")
	page, err := os.ReadFile(filepath.Join(dir, "t.html"))
	if code != exitOK || errs != "" || err != nil || !bytes.HasSuffix(bytes.TrimSpace(page), []byte("</html>")) {
		t.Errorf("a folder that may only be read: exit code %d, stdout %q, stderr %q, %v", code, out, errs, err)
	}
	if err := os.Chmod(filepath.Join(dir, "t.html"), 0o444); err != nil {
		t.Fatal(err)
	}
	code, out, errs = denied("report", "t.gz", "--no-fetch", "--max-memory", "96MiB")
	after, err := os.ReadFile(filepath.Join(dir, "t.html"))
	if code != exitFailure || out != "" || !strings.Contains(errs, "permission denied") || err != nil || !bytes.Equal(page, after) {
		t.Errorf("a file that may only be read: exit code %d, stdout %q, stderr %q, %v", code, out, errs, err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 4 {
		t.Errorf("left behind: %v, %v", files, err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
}
