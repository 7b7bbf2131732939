package pprof_test

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/pprof/profile"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/breakdown"
	"github.com/gmpscope/gmpscope/analyze/focus"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/export/pprof"
	"github.com/gmpscope/gmpscope/internal/testkit/tracetest"
)

// recordings are traces of different kinds.
var recordings = []string{"mutex-go1.26-p4", "gosched-go1.26-p2", "gc-go1.25-p4", "network-go1.24-p4", "blocking-syscalls-go1.22-p4", "thousand-by-thousand-go1.26-p4", "real/annot-go1.26-p4to8", "real/v1-context-go1.21"}

// exported returns the profile of a trace, as it is written, and the result beside it.
func exported(t testing.TB, name string, o pprof.Options, f focus.Focus) ([]byte, *analyze.Result) {
	t.Helper()
	var out bytes.Buffer
	w := pprof.NewWriter(&out, o)
	res, err := analyze.Reader(t.Context(), bytes.NewReader(tracetest.Recorded(t, name)), name, analyze.Options{Observer: w, Focus: f})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Finish(res); err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), res
}

func parsed(t testing.TB, b []byte) *profile.Profile {
	t.Helper()
	p, err := profile.ParseData(b)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.CheckValid(); err != nil {
		t.Fatal(err)
	}
	return p
}

// sums are the values of a profile, in all and by the value of a label.
func sums(p *profile.Profile, label string) map[string]int64 {
	out := map[string]int64{}
	for _, s := range p.Sample {
		out["waits"] += s.Value[0]
		out["wait"] += s.Value[1]
		out[s.Label[label][0]] += s.Value[1]
	}
	maps.DeleteFunc(out, func(_ string, n int64) bool { return n == 0 })
	return out
}

// byCause is what sums by cause have to be.
func byCause(s *waits.Summary) map[string]int64 {
	out := map[string]int64{"waits": s.Count, "wait": s.TotalNs}
	for _, c := range s.Causes {
		out[string(c.Cause)] = c.Ns
	}
	maps.DeleteFunc(out, func(_ string, n int64) bool { return n == 0 })
	return out
}

// TestSums holds the sums of profiles against those of the result, to the ns.
func TestSums(t *testing.T) {
	for _, name := range recordings {
		t.Run(name, func(t *testing.T) {
			b, res := exported(t, name, pprof.Options{}, focus.Focus{})
			if d := cmp.Diff(byCause(&res.Waits.User), sums(parsed(t, b), "cause")); d != "" {
				t.Errorf("user waits (-result +profile):\n%s", d)
			}
			b, res = exported(t, name, pprof.Options{All: true}, focus.Focus{})
			p := parsed(t, b)
			if d := cmp.Diff(byCause(&res.Waits.All), sums(p, "cause")); d != "" {
				t.Errorf("all waits (-result +profile):\n%s", d)
			}
			want := map[string]int64{"waits": res.Waits.All.Count, "wait": res.Waits.All.TotalNs}
			for _, c := range res.Waits.Classes {
				if c.Waits.TotalNs > 0 {
					want[nameOf(c.Name)] += c.Waits.TotalNs
				}
			}
			if d := cmp.Diff(want, sums(p, "class")); d != "" {
				t.Errorf("by class (-result +profile):\n%s", d)
			}
		})
	}
}

// TestWork holds the profile of units of work against the result: by kind, by what goroutines
// did, and by what the units' own waited for.
func TestWork(t *testing.T) {
	for _, name := range append([]string{"network-go1.26-p2"}, recordings...) {
		res, err := analyze.Reader(t.Context(), bytes.NewReader(tracetest.Recorded(t, name)), name, analyze.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := pprof.WriteWork(&out, res); err != nil {
			t.Fatal(err)
		}
		got := map[string]int64{}
		p := parsed(t, out.Bytes())
		for _, s := range p.Sample {
			frame := func(i int) string { return s.Location[i].Line[0].Function.Name }
			kind := s.Label["how"][0] + " " + frame(len(s.Location)-1)
			got["units of "+kind] += s.Value[0]
			got["latency of "+kind] += s.Value[1]
			got["via "+strings.Join(s.Label["via"], "")+" "+strings.Join(s.Label["site"], "")] += s.Value[1]
			got["cause "+strings.Join(s.Label["cause"], "")] += s.Value[1]
			got[stackText(s)] += s.Value[1]
		}
		want := map[string]int64{}
		for i := range res.Work.Kinds {
			k := &res.Work.Kinds[i]
			kind := k.How + " " + nameOf(k.Name)
			if k.Count > 0 {
				want["units of "+kind] += k.Count
				want["latency of "+kind] += k.TotalNs
			}
			for _, x := range k.Path {
				if x.Via == nil {
					want["via  "] += x.Ns
				} else {
					want["via "+x.Via.What+" "+x.Via.Site] += x.Ns
				}
				want["cause "+x.Cause] += x.Ns
				stack := nameOf(k.Name)
				for _, s := range []string{x.Who, x.What, x.Where} {
					if s != "" {
						stack += " > " + s
					}
				}
				want[stack] += x.Ns
			}
		}
		if d := cmp.Diff(want, got); d != "" || len(want) == 0 {
			t.Errorf("%s (-result +profile):\n%s", name, d)
		}
	}
}

// stackText is the stack of a sample, the outermost frame first.
func stackText(s *profile.Sample) (text string) {
	for _, l := range s.Location {
		if text != "" {
			text = " > " + text
		}
		text = l.Line[0].Function.Name + text
	}
	return text
}

func nameOf(class string) string {
	if class == "" {
		return "(unknown function)"
	}
	return class
}

// TestBlocked holds what was blocked against the lives of the result: what ended in the trace is a
// part of it, and where all of a class's ends, all. The waits stay as they are.
func TestBlocked(t *testing.T) {
	for _, name := range recordings {
		b, res := exported(t, name, pprof.Options{Blocked: true}, focus.Focus{})
		p := parsed(t, b)
		if d := cmp.Diff(byCause(&res.Waits.User), waitsOf(p)); d != "" {
			t.Errorf("%s: waits (-result +profile):\n%s", name, d)
		}
		got := map[string]int64{}
		for _, s := range p.Sample {
			if s.Value[3] > 0 {
				got[s.Label["cause"][0]] += s.Value[3]
			}
		}
		if len(got) == 0 {
			t.Errorf("%s: nothing was blocked", name)
		}
		for i, ns := range res.Breakdown.Program.BlockedNs {
			reason := breakdown.Reason(i).String()
			if got[reason] > ns {
				t.Errorf("%s: %s: %d ns in the profile, %d in the lives", name, reason, got[reason], ns)
			}
			delete(got, reason)
		}
		if len(got) > 0 {
			t.Errorf("%s: no reasons of lives: %v", name, got)
		}
	}
	// Goroutines that hand a lock on wake one another.
	b, _ := exported(t, "mutex-go1.26-p4", pprof.Options{Blocked: true}, focus.Focus{})
	for _, s := range parsed(t, b).Sample {
		if s.Value[3] > 0 && s.Label["cause"][0] == "sync" && s.Label["waker"][0] == s.Label["class"][0] {
			return
		}
	}
	t.Error("nobody was blocked on a lock that one of his kind released")
}

// TestBlockedOfFocus has neighbouring windows add up to the whole.
func TestBlockedOfFocus(t *testing.T) {
	blocked := func(f focus.Focus) (n, ns int64) {
		b, _ := exported(t, "thousand-by-thousand-go1.26-p4", pprof.Options{Blocked: true}, f)
		for _, s := range parsed(t, b).Sample {
			n, ns = n+s.Value[2], ns+s.Value[3]
		}
		return n, ns
	}
	n, ns := blocked(focus.Focus{})
	n1, ns1 := blocked(focus.Focus{To: 9_000_000})
	n2, ns2 := blocked(focus.Focus{From: 9_000_000})
	if n1+n2 != n || ns1+ns2 != ns || n == 0 || ns1 == 0 || ns2 == 0 {
		t.Errorf("%d and %d of %d, %d and %d ns of %d", n1, n2, n, ns1, ns2, ns)
	}
}

// waitsOf are the waits of a profile that has more than those.
func waitsOf(p *profile.Profile) map[string]int64 {
	p = p.Copy()
	p.Sample = slices.DeleteFunc(p.Sample, func(s *profile.Sample) bool { return s.Value[0] == 0 && s.Value[1] == 0 })
	return sums(p, "cause")
}

// TestSumsOfFocus does so for windows and for a class.
func TestSumsOfFocus(t *testing.T) {
	const name = "thousand-by-thousand-go1.26-p4"
	for _, f := range []focus.Focus{
		{To: 3_000_000},
		{From: 3_000_000, To: 9_000_000},
		{From: 9_000_000},
		{Classes: []string{"main.parent"}},
		{Classes: []string{"main.leaf"}, From: 5_000_000},
	} {
		b, res := exported(t, name, pprof.Options{}, f)
		if d := cmp.Diff(byCause(&res.Waits.User), sums(parsed(t, b), "cause")); d != "" {
			t.Errorf("%+v (-result +profile):\n%s", f, d)
		}
		if res.Waits.User.TotalNs == 0 {
			t.Errorf("%+v: nothing waits", f)
		}
	}
}

// TestBounded has fewer accounts than the trace needs: what is beyond is summed up, and
// nothing is lost.
func TestBounded(t *testing.T) {
	const most = 5
	b, res := exported(t, "real/esbuild-go1.26-p8", pprof.Options{Accounts: most}, focus.Focus{})
	p := parsed(t, b)
	if d := cmp.Diff(byCause(&res.Waits.User), sums(p, "cause")); d != "" {
		t.Errorf("(-result +profile):\n%s", d)
	}
	keys, ofClass := map[string]bool{}, int64(0)
	for _, s := range p.Sample {
		if s.Label["waker"][0] == "(others)" && s.Label["class"][0] != "(other classes)" {
			ofClass += s.Value[1]
		}
		keys[fmt.Sprint(s.Location, s.Label["class"], s.Label["source"], s.Label["waker"])] = true
	}
	if len(keys) != 2*most+1 || ofClass == 0 {
		t.Errorf("%d accounts, %d ns of others in their class", len(keys), ofClass)
	}
	if by := sums(p, "class"); by["(other classes)"] == 0 {
		t.Errorf("by class: %v", by)
	}
}

// TestStacks finds the stacks of a program that is known: goroutines that wait for a
// mutex, and have been woken by one that holds it.
func TestStacks(t *testing.T) {
	b, _ := exported(t, "mutex-go1.26-p4", pprof.Options{}, focus.Focus{})
	p := parsed(t, b)
	found := false
	for _, s := range p.Sample {
		leaf, root := s.Location[0].Line[0], s.Location[len(s.Location)-1].Line[0]
		if leaf.Function.Name == "sync.(*Mutex).Lock" && leaf.Line > 0 && leaf.Function.Filename == "sync/mutex.go" &&
			root.Function.Name == s.Label["class"][0] && s.Label["waker"][0] == s.Label["class"][0] {
			found = true
		}
	}
	if !found {
		t.Errorf("no sample at sync.(*Mutex).Lock in\n%s", p)
	}
	if p.DefaultSampleType != "wait" || p.SampleType[0].Type != "waits" || p.SampleType[1].Unit != "nanoseconds" || p.DurationNanos == 0 || p.TimeNanos == 0 {
		t.Errorf("%v %v %d %d", p.DefaultSampleType, p.SampleType, p.DurationNanos, p.TimeNanos)
	}
}

// TestGoToolPprof gives profiles to who is to read them.
func TestGoToolPprof(t *testing.T) {
	tool := goToolPprof(t)
	b, res := exported(t, "mutex-go1.26-p4", pprof.Options{}, focus.Focus{})
	file := filepath.Join(t.TempDir(), "waits.pprof")
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	behind := int64(0)
	for _, c := range res.Waits.User.Causes {
		if c.Cause == waits.CauseQueueing {
			behind = c.Ns
		}
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-top", "-unit=ns"}, fmt.Sprintf(" = %dns", res.Waits.User.TotalNs)},
		{[]string{"-top", "-sample_index=waits"}, fmt.Sprintf(" = %d ", res.Waits.User.Count)},
		{[]string{"-top", "-unit=ns", "-tagfocus=cause=queueing"}, fmt.Sprintf(" accounting for %dns", behind)},
		{[]string{"-top", "-diff_base=" + file}, " accounting for 0, "},
		{[]string{"-tree"}, "sync.(*Mutex).Lock"},
		{[]string{"-tags"}, "waker: Total"},
		{[]string{"-raw"}, "cause:[queueing]"},
		{[]string{"-comments"}, "rules: Go 1.26"},
	} {
		args := append([]string{"-nodefraction=0", "-edgefraction=0", "-nodecount=1000000"}, c.args...)
		out, err := exec.Command(tool, append(args, file)...).CombinedOutput()
		if err != nil || !strings.Contains(string(out), c.want) {
			t.Errorf("%v: %v, no %q in\n%.3000s", c.args, err, c.want, out)
		}
	}
}

// TestFlameGraph has the web interface of pprof draw a profile.
func TestFlameGraph(t *testing.T) {
	tool := goToolPprof(t)
	b, _ := exported(t, "mutex-go1.26-p4", pprof.Options{}, focus.Focus{})
	file := filepath.Join(t.TempDir(), "waits.pprof")
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String() // free once it is closed
	l.Close()
	cmd := exec.Command(tool, "-no_browser", "-http="+address, file)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	page := get(t, "http://"+address+"/ui/flamegraph")
	if !bytes.Contains(page, []byte("sync.(*Mutex).Lock")) {
		t.Errorf("%.3000s", page)
	}
}

// get returns a page of a server that has just been started.
func get(t *testing.T, url string) []byte {
	t.Helper()
	var resp *http.Response
	var err error
	for range 600 { // a minute: it either answers soon, or never
		if resp, err = http.Get(url); err == nil {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	page, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", url, resp.Status, err)
	}
	return page
}

// goToolPprof returns the path of pprof as it comes with Go, which may have to be built.
func goToolPprof(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "tool", "-n", "pprof").Output()
	if err != nil {
		t.Skipf("there is no go tool pprof: %v", err)
	}
	return strings.TrimSpace(string(out))
}
