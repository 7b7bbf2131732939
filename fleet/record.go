package fleet

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/jsondoc"
)

// Schema is the version of records. It rises when a field changes its meaning or goes away.
const Schema = 1

// Bounds of a record. What is beyond them is summed up, or left out and counted.
const (
	maxSources   = 64
	maxLabels    = 16
	maxClasses   = 48
	maxFindings  = 32
	maxLongWaits = 4
	maxName      = 512 // bytes
)

// Record is the summary of one trace. Times are ns. All numbers are integers that are not
// negative, and all but those of Trace and Spread add up over traces.
type Record struct {
	Key string `json:"key"` // SHA-256 of the uncompressed trace, in hexadecimal digits
	// Sources are the names and labels under which the trace was found, in their order.
	Sources     []Source `json:"sources"`
	MoreSources bool     `json:"more_sources,omitempty"` // there were more than 64
	// Conflict is set if records with this key had different contents, from other settings or
	// versions. The one whose JSON sorts first is kept.
	Conflict bool `json:"conflict,omitempty"`
	Content
}

// Content is the part of a record that is equal for equal traces and settings.
type Content struct {
	Trace     Trace      `json:"trace"`
	Starts    Starts     `json:"starts"`
	User      Waits      `json:"user"`   // waits of the program for a P, those in Self left out
	Self      Waits      `json:"self"`   // waits of the program just after calls of runtime.Gosched
	System    Waits      `json:"system"` // of the runtime's and the tracer's goroutines
	Ps        Ps         `json:"ps"`
	Spread    Spread     `json:"spread"`
	Classes   []Class    `json:"classes"`             // of the program, by waiting, longest first; at most 48
	Work      []Kind     `json:"work,omitempty"`      // units of work by kind, in the order of the analysis; at most 32, and the last may be the others
	Findings  []Finding  `json:"findings"`            // in their order, at most 32
	Worst     []LongWait `json:"worst"`               // the longest waits, at most 4
	Anonymous bool       `json:"anonymous,omitempty"` // names that are not Go's own are replaced
	// OwnNames is set if names are numbers without meaning beyond this trace.
	OwnNames bool `json:"own_names,omitempty"`
}

// Source is one name under which a trace was found, and the labels that it has there.
type Source struct {
	Name   string  `json:"name"`             // of the file, or its path
	Labels []Label `json:"labels,omitempty"` // sorted by name
}

// Label is a label of a trace given by a user, such as its service: a name and a value.
type Label = jsondoc.FleetLabel

// Trace describes a trace, and how much of it could be read.
type Trace struct {
	Format     string `json:"format"`               // from the header of the file: "go 1.26"
	GoVersion  string `json:"go_version"`           // Go versions that write that format
	Rules      string `json:"rules"`                // release whose rules were applied
	GOMAXPROCS int64  `json:"gomaxprocs"`           // largest value
	WallUnix   int64  `json:"wall_unix,omitempty"`  // seconds since 1970 at its start; 0 if unknown
	DurationNs int64  `json:"duration_ns"`          // from the first event to the last
	LostNs     int64  `json:"lost_ns,omitempty"`    // length of its gaps
	Bytes      int64  `json:"bytes"`                // size, uncompressed
	LostBytes  int64  `json:"lost_bytes,omitempty"` // part of Bytes that is unreadable or useless
	Events     int64  `json:"events"`               // how many
	Goroutines int64  `json:"goroutines"`           // how many
	Incomplete bool   `json:"incomplete,omitempty"` // parts are lost or damaged
	Reduced    bool   `json:"reduced,omitempty"`    // of Go 1.21 or before: queues are not rebuilt
}

// Starts counts the times that goroutines went from runnable to running, by whether the rules
// of the scheduler explain them.
type Starts struct {
	Count       int64 `json:"count"`       // all
	Explained   int64 `json:"explained"`   // by one rule
	Ambiguous   int64 `json:"ambiguous"`   // by several
	Unexplained int64 `json:"unexplained"` // by none
}

// Waits sums up waits for a P. Causes add up to TotalNs.
type Waits struct {
	Count     int64     `json:"count"`                // waits that ended
	TotalNs   int64     `json:"total_ns"`             // their sum
	MaxNs     int64     `json:"max_ns"`               // longest
	OpenCount int64     `json:"open_count,omitempty"` // not over when the trace ended; not in Count
	OpenNs    int64     `json:"open_ns,omitempty"`    // their sum so far
	CutNs     int64     `json:"cut_ns,omitempty"`     // sum of waits whose end a gap hides
	Causes    Causes    `json:"causes"`
	Histogram Histogram `json:"histogram"` // of their lengths, ns
}

// Causes is waiting by cause, in the order of [waits.Causes], ns.
type Causes [waits.NumCauses]int64

// Ps is, summed over the Ps of a trace, the time in each state, in ns, and how often work
// moved between them.
type Ps struct {
	LifetimeNs    int64 `json:"lifetime_ns"`     // the sum of the following times
	RunningNs     int64 `json:"running_ns"`      // goroutines of the program
	SystemNs      int64 `json:"system_ns"`       // goroutines of the runtime
	GCNs          int64 `json:"gc_ns"`           // mark workers
	TracerNs      int64 `json:"tracer_ns"`       // goroutines of the tracer
	SyscallNs     int64 `json:"syscall_ns"`      // goroutine in a system call, P not retaken
	SchedNs       int64 `json:"sched_ns"`        // with a thread but no goroutine
	IdleNs        int64 `json:"idle_ns"`         // without a thread
	StoppedNs     int64 `json:"stopped_ns"`      // stopped for a stop-the-world
	UnusedNs      int64 `json:"unused_ns"`       // at or above GOMAXPROCS
	NotRecordedNs int64 `json:"not_recorded_ns"` // in gaps of the trace
	Steals        int64 `json:"steals"`          // how many
	Stolen        int64 `json:"stolen"`          // goroutines that they moved
	Handoffs      int64 `json:"handoffs"`        // Ps handed to another thread
	Retakes       int64 `json:"retakes"`         // Ps taken from threads in system calls
	Preemptions   int64 `json:"preemptions"`     // goroutines made to yield
	Overflows     int64 `json:"overflows"`       // puts on a full ring
	GlobalTakes   int64 `json:"global_takes"`    // takes from the global queue, batches counted once
}

// Spread holds the numbers that do not add up over traces, in millionths: many traces
// have a distribution of each.
type Spread struct {
	Jain        int64 `json:"jain"`        // Jain's index of fairness: 1,000,000 if all had equal shares
	Pressure    int64 `json:"pressure"`    // share of the time in which a goroutine was runnable: 1,000,000 is all
	Parallelism int64 `json:"parallelism"` // running time / critical path: 2,000,000 is two goroutines at a time
}

// Class is, in a record, what the goroutines of one start function and creator did.
type Class struct {
	Name       string `json:"name"`              // start function
	Creator    string `json:"creator,omitempty"` // function that executed the go statement
	Goroutines int64  `json:"goroutines"`        // how many
	RunningNs  int64  `json:"running_ns"`        // running time, summed
	Waits      Waits  `json:"waits"`             // for a P
}

// Finding is, in a record, what a detector found in the trace. Times are ns.
type Finding struct {
	ID       string `json:"id"`              // ID of the detector
	Severity string `json:"severity"`        // "note", "warning" or "critical"
	Class    string `json:"class,omitempty"` // start function of the goroutines that it is about
	CostNs   int64  `json:"cost_ns"`         // goroutine-time lost
	FromNs   int64  `json:"from_ns"`         // beginning of the window in which it is worst, since the first event of the trace
	ToNs     int64  `json:"to_ns"`           // end of that window
	Basis    string `json:"basis"`           // how it is known: "certain", "inferred" or "suspected"
}

// LongWait is one of the longest waits for a P of a trace. Times are ns, FromNs since the first event of
// the trace.
type LongWait struct {
	G      int64  `json:"g"`       // ID of the goroutine
	Class  string `json:"class"`   // start function of its class
	FromNs int64  `json:"from_ns"` // when it became runnable
	WaitNs int64  `json:"wait_ns"` // length of the wait
	Source string `json:"source"`  // where a P took it from in the end, such as "local" or "steal"
	Causes Causes `json:"causes"`
}

// MarshalJSON writes the non-zero causes by their names.
func (c Causes) MarshalJSON() ([]byte, error) {
	out := map[waits.Cause]int64{}
	for i, cause := range waits.Causes() {
		if c[i] != 0 {
			out[cause] = c[i]
		}
	}
	return json.Marshal(out)
}

// renamed are causes by the names that older versions gave them.
var renamed = map[waits.Cause]waits.Cause{
	"stw": waits.CauseSTW, "gc": waits.CauseGC, "idle-p/waking": waits.CausePWakingUp, "idle-p/missed": waits.CauseIdlePAvailable,
	"behind": waits.CauseQueueing, "residue": waits.CauseOverhead,
}

// UnmarshalJSON reads the output of MarshalJSON of this or an older version. An unknown cause is an error.
func (c *Causes) UnmarshalJSON(b []byte) error {
	var in map[waits.Cause]int64
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	*c = Causes{}
	for cause, ns := range in {
		i := slices.Index(waits.Causes(), cmp.Or(renamed[cause], cause))
		if i < 0 {
			return fmt.Errorf("cause %q is not known", cause)
		}
		c[i] = ns
	}
	return nil
}

// sum is all of it, ns.
func (c *Causes) sum() int64 {
	total := int64(0)
	for _, ns := range c {
		total = add(total, ns)
	}
	return total
}

func (c *Causes) merge(o *Causes) {
	for i, ns := range o {
		c[i] = add(c[i], ns)
	}
}

func (w *Waits) merge(o *Waits) {
	w.Count, w.TotalNs, w.MaxNs = add(w.Count, o.Count), add(w.TotalNs, o.TotalNs), max(w.MaxNs, o.MaxNs)
	w.OpenCount, w.OpenNs, w.CutNs = add(w.OpenCount, o.OpenCount), add(w.OpenNs, o.OpenNs), add(w.CutNs, o.CutNs)
	w.Causes.merge(&o.Causes)
	w.Histogram.Merge(o.Histogram)
}

// Union merges two records with the same Key: the result has the sources of both, and the Content of
// one; if these differ, Conflict is set. It is associative, commutative and idempotent.
func (r *Record) Union(o *Record) (*Record, error) {
	mine, err := json.Marshal(&r.Content)
	if err != nil {
		return nil, err
	}
	other, err := json.Marshal(&o.Content)
	if err != nil {
		return nil, err
	}
	out := *r
	out.Conflict = r.Conflict || o.Conflict
	if order := strings.Compare(string(mine), string(other)); order != 0 {
		out.Conflict = true
		if order > 0 {
			out.Content = o.Content
		}
	}
	out.MoreSources = r.MoreSources || o.MoreSources
	out.setSources(slices.Concat(r.Sources, o.Sources))
	return &out, nil
}

// setSources sets the sources: each once, in their order, and the first if they are many.
func (r *Record) setSources(list []Source) {
	slices.SortFunc(list, compareSources)
	list = slices.CompactFunc(list, func(a, b Source) bool { return compareSources(a, b) == 0 })
	if len(list) > maxSources {
		list, r.MoreSources = list[:maxSources], true
	}
	r.Sources = list
}

func compareSources(a, b Source) int {
	return cmp.Or(strings.Compare(a.Name, b.Name), slices.CompareFunc(a.Labels, b.Labels, func(x, y Label) int {
		return cmp.Or(strings.Compare(x.Name, y.Name), strings.Compare(x.Value, y.Value))
	}))
}

// validate returns an error for a record that [Summarize] does not make.
func (r *Record) validate() error {
	switch {
	case len(r.Key) != 64 || strings.Trim(r.Key, "0123456789abcdef") != "":
		return errors.New("its key is no SHA-256")
	case len(r.Sources) == 0 || len(r.Sources) > maxSources:
		return fmt.Errorf("it has %d sources", len(r.Sources))
	case !slices.IsSortedFunc(r.Sources, compareSources):
		return errors.New("its sources are not sorted")
	case len(r.Classes) > maxClasses || len(r.Findings) > maxFindings || len(r.Worst) > maxLongWaits || len(r.Work) > maxKinds:
		return errors.New("a list in it is too long")
	}
	for _, s := range r.Sources {
		if len(s.Labels) > maxLabels {
			return errors.New("it has too many labels")
		}
	}
	sets := []*Waits{&r.User, &r.Self, &r.System}
	for i := range r.Classes {
		sets = append(sets, &r.Classes[i].Waits)
	}
	for _, w := range sets {
		if w.Causes.sum() != w.TotalNs {
			return errors.New("its causes do not add up")
		}
		if w.Histogram.Total() != w.Count {
			return errors.New("a histogram in it does not add up")
		}
	}
	for i := range r.Work {
		if err := r.Work[i].validate(); err != nil {
			return err
		}
	}
	if err := sound(reflect.ValueOf(r).Elem()); err != nil {
		return err
	}
	const whole = 1_000_000 // millionths
	s, p := &r.Starts, &r.Ps
	switch {
	case r.Spread.Jain > whole || r.Spread.Pressure > whole,
		add(add(s.Explained, s.Ambiguous), s.Unexplained) > s.Count,
		add(add(p.IdleNs, p.UnusedNs), p.NotRecordedNs) > p.LifetimeNs:
		return errors.New("a part in it is more than the whole")
	case r.Trace.GOMAXPROCS > math.MaxInt32:
		return errors.New("its GOMAXPROCS is more than a Go program can have")
	}
	return nil
}

// sound returns an error if a number in a record is negative, or a text too long: sums
// stay as they are, and memory is bounded.
func sound(v reflect.Value) error {
	switch v.Kind() {
	case reflect.Int64, reflect.Int32:
		if v.Int() < 0 {
			return errors.New("a number in it is negative")
		}
	case reflect.String:
		if v.Len() > maxName {
			return errors.New("a name in it is too long")
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if err := sound(v.Field(i)); err != nil {
				return err
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if err := sound(v.Index(i)); err != nil {
				return err
			}
		}
	}
	return nil
}
