// Package unbufferedio is the detector unbuffered-io: does somebody read or write little
// by little, with a system call each time? doc.md explains it.
package unbufferedio

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/findings"
	pthrash "github.com/gmpscope/gmpscope/analyze/findings/p-thrash"
	"github.com/gmpscope/gmpscope/internal/quantity"
)

// ID names the detector in findings, in configuration files and for "gmpscope explain".
const ID = "unbuffered-io"

// Thresholds decide when the detector reports functions that read or write little by little,
// with a system call each time. Fields whose names end in Ns are in nanoseconds; shares are
// fractions from 0 to 1.
type Thresholds struct {
	// MinRow is how many calls there must be in a run interval, on average.
	MinRow float64 `json:"min_row"`
	// ShortNs is how long the calls may take on average: those that take longer do more.
	ShortNs int64 `json:"short_ns"`
	// ShortSocketNs is the same of calls of package net: the protocol is at work in them.
	ShortSocketNs int64 `json:"short_socket_ns"`
	// PerSecond is how many there must be in a second of the recording.
	PerSecond float64 `json:"per_second"`
	// MinNs is the least time that they take.
	MinNs int64 `json:"min_ns"`
	// Shares of the P-time that was not idle that the calls take.
	NoteShare     float64 `json:"note_share"`
	WarningShare  float64 `json:"warning_share"`
	CriticalShare float64 `json:"critical_share"`
}

// Default returns the thresholds that apply unless a configuration sets others. A system call
// takes from some 100 ns to a microsecond before it does anything; a send of some bytes by TCP
// on loopback took 4 to 7 µs where we measured it, one of 32 kB 9 µs and more. The thresholds
// are ours.
func Default() Thresholds {
	return Thresholds{MinRow: 20, ShortNs: 4_000, ShortSocketNs: 8_000, PerSecond: 5_000, MinNs: 5_000_000, NoteShare: 0.05, WarningShare: 0.2, CriticalShare: 0.5}
}

// New returns the detector that reports functions that read or write little by little, with a
// system call each time, with thresholds t.
func New(t Thresholds) findings.Detector {
	return findings.Detector{
		ID: ID, Kind: findings.KindCause, Counted: true, CostOf: findings.OfPTime,
		Explains: []string{pthrash.ID},
		Remedy:   findings.Remedy{Why: "the model makes the system calls of the recording"},
		New:      func(view *findings.View) findings.Watcher { return &watcher{t, view} },
	}
}

type watcher struct {
	t    Thresholds
	view *findings.View
}

// call is what a function does in calls.
type call struct {
	function findings.Name
	verb     string // "reads" or "writes"
}

// site is the calls of one kind that one function makes.
type site struct {
	findings.Caller // the sums; stack, class and goroutine are those of the most calls
	call
	place   string
	most    int64
	shortNs int64 // that its calls may take, summed
}

func (w *watcher) Finish(f *findings.Facts) []findings.Finding {
	if f.RecordedNs() <= 0 {
		return nil
	}
	out := findings.Each(f, w.sites(f), w.finding)
	return out[:min(maxSites, len(out))]
}

// maxSites is how many are reported, those that take longest.
const maxSites = 2

// sites returns the reads and writes of each function, longest first.
func (w *watcher) sites(f *findings.Facts) []*site {
	sites := findings.NewTable(math.MaxInt, func(of call) site { return site{call: of} })
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
		sites.At(call{function, verb}).add(&c, place, w.t.short(frames))
	}
	slices.SortStableFunc(sites.List, func(x, y *site) int { return cmp.Compare(y.Ns, x.Ns) })
	return sites.List
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
		function := findings.FunctionOf(frame)
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
		function := findings.FunctionOf(frame)
		if !findings.OfLibrary(function) {
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
	if slices.ContainsFunc(frames, func(frame string) bool { return strings.HasPrefix(frame, "net.(*") }) {
		return t.ShortSocketNs
	}
	return t.ShortNs
}

// innermost is how many frames of a stack may be those of the system call.
const innermost = 4

func (w *watcher) finding(f *findings.Facts, x *site) []findings.Finding {
	share := float64(x.Ns) / float64(max(1, f.BusyNs())) // of the P-time that was not idle
	perSecond := float64(x.N) / (float64(f.RecordedNs()) / 1e9)
	s, ok := findings.ByShare(share, w.t.NoteShare, w.t.WarningShare, w.t.CriticalShare)
	if !ok || x.Ns < w.t.MinNs || perSecond < w.t.PerSecond || x.Ns > x.shortNs {
		return nil
	}
	y := findings.Finding{
		Severity: s, CostNs: x.Ns, FromNs: x.From, ToNs: x.To, Basis: findings.Certain,
		Actors: []findings.Actor{f.Actor(findings.Cause, x.Class, x.G, x.Stack)},
	}
	who := findings.Say("%s", x.function)
	if does := y.Actors[0].AtInnermost(); does.CalledBy() != "" {
		who = does.Doer()
	}
	rate := quantity.Plural(int64(perSecond), "time", "times")
	mean, limit := x.Ns/max(1, x.N), x.shortNs/max(1, x.N)
	y.Headline = findings.Say("%s %s little by little, %s a second, each a system call", who, x.verb, rate)
	y.Title = findings.Say("%s %s little by little: %s a second, each a system call of %s (mean); they take %s of the P-time that was not idle",
		who, x.verb, rate, quantity.Duration(mean), quantity.Percent(share))
	y.MeasuredOf(findings.Say("system calls in %s%s", x.function, findings.At(" (%s)", x.place)), findings.Count(x.N))
	y.Measured("a second", findings.Rate(perSecond), findings.Rate(w.t.PerSecond))
	y.Measured("in a run interval (mean)", findings.Number(float64(x.N)/float64(max(1, x.Runs))), findings.Number(w.t.MinRow))
	y.Measured("each took (mean)", findings.Time(mean), findings.Time(limit))
	y.Measured("all, of the P-time that was not idle", findings.Share(share).Of(x.Ns), findings.Share(w.t.WarningShare))
	y.Advise("Write through a bufio.Writer in %s, or put together what belongs together and write it at once: a system call costs as much for one byte as for thousands. Flush where it must be out, at the end of a request or record.", x.function)
	if x.verb == "reads" {
		y.AdviseOnly("Read through a bufio.Reader in %s, or larger pieces at once: a system call costs as much for one byte as for thousands.", x.function)
	}
	return []findings.Finding{y}
}
