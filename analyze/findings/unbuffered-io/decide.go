package unbufferedio

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/internal/std"
)

// site is the calls of one kind that one function makes.
type site struct {
	findings.Caller // the sums; stack, class and goroutine are those of the most calls
	function, place string
	verb            string // "reads" or "writes"
	most            int64
	shortNs         int64   // that its calls may take, summed
	share           float64 // of the P-time that was not idle
	perSecond       float64
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	if f.RecordedNs() <= 0 {
		return nil
	}
	busy := f.PT()
	for i := range f.Procs.Ps {
		busy -= f.Procs.Ps[i].IdleNs
	}
	var out []findings.Finding
	for _, x := range w.sites(f) {
		x.share = float64(x.Ns) / float64(max(1, busy))
		x.perSecond = float64(x.N) / (float64(f.RecordedNs()) / 1e9)
		if s, ok := w.severity(x); ok && len(out) < maxSites {
			out = append(out, w.finding(f, x, s))
		}
	}
	return out
}

// maxSites is how many are reported, those that take longest.
const maxSites = 2

// sites returns the reads and writes of each function, longest first.
func (w *watcher) sites(f *findings.Facts) []*site {
	var list []*site
	for _, c := range w.view.Callers() {
		if c.Ns < c.N || float64(c.N) < w.t.MinRow*float64(c.Runs) {
			continue
		}
		frames := f.Frames(c.Stack)
		verb := readsOrWrites(frames)
		function, place := f.ProgramsFunction(c.Stack)
		if verb == "" || function == "" || buffered(frames) {
			continue
		}
		i := slices.IndexFunc(list, func(x *site) bool { return x.function == function && x.verb == verb })
		if i < 0 {
			i = len(list)
			list = append(list, &site{function: function, verb: verb})
		}
		list[i].add(&c, place, w.t.short(frames))
	}
	slices.SortStableFunc(list, func(x, y *site) int { return cmp.Compare(y.Ns, x.Ns) })
	return list
}

func (x *site) add(c *findings.Caller, place string, shortNs int64) {
	if x.N == 0 {
		x.From = c.From
	}
	x.N += c.N
	x.Ns += c.Ns
	x.shortNs += shortNs * c.N
	x.Runs += c.Runs
	x.From, x.To = min(x.From, c.From), max(x.To, c.To)
	if c.N > x.most {
		x.most, x.place, x.Stack, x.Class, x.G = c.N, place, c.Stack, c.Class, c.G
	}
}

// readsOrWrites reports by the innermost frames what a system call did, "" if it was neither:
// the functions of package syscall, and of x/sys/unix, on Unix and Windows.
func readsOrWrites(frames []string) string {
	for _, frame := range frames[:min(innermost, len(frames))] {
		function, _, _ := strings.Cut(frame, " ")
		pkg, name, _ := strings.Cut(function[strings.LastIndexByte(function, '/')+1:], ".")
		if pkg != "syscall" && pkg != "unix" {
			continue
		}
		switch strings.ToLower(name) {
		case "read", "pread", "readfile", "recvfrom", "wsarecv":
			return "reads"
		case "write", "pwrite", "writefile", "sendto", "wsasend":
			return "writes"
		}
	}
	return ""
}

// buffered reports whether what the library has between the program and a system call has a
// buffer: then it is not the program that decides how much a call moves.
func buffered(frames []string) bool {
	for _, frame := range frames {
		function, _, _ := strings.Cut(frame, " ")
		if pkg, _ := std.Split(function); !std.Has(pkg) {
			return false
		}
		if strings.HasPrefix(function, "bufio.") || function == "io.copyBuffer" {
			return true
		}
	}
	return false
}

// short is how long calls at a stack may take on average.
func (t *Thresholds) short(frames []string) int64 {
	for _, frame := range frames {
		if strings.HasPrefix(frame, "net.(*") {
			return t.ShortSocketNs
		}
	}
	return t.ShortNs
}

// innermost is how many frames of a stack may be those of the system call.
const innermost = 4

func (w *watcher) severity(x *site) (s findings.Severity, ok bool) {
	switch {
	case x.Ns < w.t.MinNs || x.perSecond < w.t.PerSecond || x.Ns > x.shortNs || x.share < w.t.NoteShare:
		return "", false
	case x.share >= w.t.CriticalShare:
		return findings.Critical, true
	case x.share >= w.t.WarningShare:
		return findings.Warning, true
	}
	return findings.Note, true
}

func (w *watcher) finding(f *findings.Facts, x *site, s findings.Severity) findings.Finding {
	a := f.Class(findings.Cause, x.Class)
	a.G, a.Stack = x.G, f.Frames(x.Stack)
	y := findings.Finding{
		ID: ID, Severity: s, CostNs: x.Ns, FromNs: x.From, ToNs: x.To, Basis: findings.Certain, Actors: []findings.Actor{a},
	}
	w.phrase(&y, x)
	f.SoftenIfBrief(&y)
	return y
}
