package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/work"
	"github.com/gmpscope/gmpscope/internal/jsondoc"
	"github.com/gmpscope/gmpscope/reference"
)

// Dump writes decisions as JSON Lines, one object a decision, in order. docs/json.md
// describes the keys. Buffering is the writer's business; one decision is one Write.
type Dump struct {
	w   io.Writer
	o   DumpOptions
	say *fragments
	of  []string // by handle: what says the class, empty if that was not asked for yet
	buf []byte
	n   int64 // lines
}

// DumpOptions select what the lines of a [Dump] hold.
type DumpOptions struct {
	// NoQueues omits the queue lengths, for a trace without rebuilt queues.
	NoQueues bool
	// Class returns the name of the class with a handle, the Class of a decision; empty if it is
	// unknown. It is what [analyze.Options.OnClasses] is called with. If it is nil, lines have none.
	Class func(class int32) string
	// Stack returns the frames of the stack with a handle, the Stack of a decision, as lines. It is
	// what [analyze.Options.OnStacks] is called with. If it is nil, lines have none.
	Stack func(stack int32) []string
	// Rules are written in the first line, unless zero.
	Rules analyze.RulesApplied
}

// NewDump returns a Dump that writes to w.
func NewDump(w io.Writer, o DumpOptions) *Dump {
	return &Dump{w: w, o: o, say: newFragments(), buf: make([]byte, 0, 256)}
}

// Write writes one decision. It does not retain d.
func (u *Dump) Write(d *reference.Decision) error {
	u.buf = u.append(u.buf[:0], d)
	if u.n++; u.n == 1 && u.o.Rules.GoVersion != "" {
		rules, err := json.Marshal(u.o.Rules)
		if err != nil {
			return err
		}
		u.buf = fmt.Appendf(bytes.TrimSuffix(u.buf, []byte("}\n")), ",\"rules\":%s}\n", rules)
	}
	_, err := u.w.Write(u.buf)
	return err
}

// append appends the line of d. It is written by hand because a trace has many millions of decisions; the
// words in it are our own, in plain ASCII, and what the trace names is escaped.
func (u *Dump) append(b []byte, d *reference.Decision) []byte {
	b = append(b, `{"t":`...)
	b = strconv.AppendInt(b, d.Time, 10)
	b = append(b, u.say.kinds[d.Kind]...)
	if d.G > 0 {
		b = appendNum(b, `,"g":`, d.G)
	}
	if d.P >= 0 {
		b = appendNum(b, `,"p":`, int64(d.P))
	}
	if d.M >= 0 {
		b = appendNum(b, `,"m":`, d.M)
	}
	switch d.Kind {
	case reference.KindStart:
		b = append(b, u.say.sources[d.Src]...)
		if d.Flags&reference.FlagLocked != 0 {
			b = append(b, `,"locked":true`...)
		}
		if d.Src == reference.SrcSteal || d.Src == reference.SrcStealRunnext {
			b = appendVictim(b, d)
		}
		b = appendBatch(b, d)
		if d.Wait >= 0 {
			b = appendNum(b, `,"wait":`, d.Wait)
		}
		b = append(b, u.say.reasons[d.Reason]...)
	case reference.KindLost:
		b = appendNum(b, `,"wait":`, d.Wait)
	case reference.KindReady:
		b = append(b, u.say.queues[d.To]...)
		b = append(b, u.say.whys[d.Why]...)
		if d.By > 0 {
			b = appendNum(b, `,"by":`, d.By)
		}
	case reference.KindMove:
		b = appendVictim(b, d)
		b = append(b, u.say.queues[d.To]...)
		b = append(b, u.say.whys[d.Why]...)
	case reference.KindSteal:
		b = appendVictim(b, d)
		b = appendBatch(b, d)
	case reference.KindOverflow, reference.KindGlobalBatch, reference.KindProcs:
		b = appendBatch(b, d)
	case reference.KindStop, reference.KindPreempt:
		if d.Why == reference.WhyUnknown {
			b = append(append(append(b, `,"why":"`...), d.Why.String()...), '"')
		}
		b = append(b, u.say.whys[d.Why]...)
		b = append(b, u.say.reasons[d.Reason]...)
	default:
		b = append(b, u.say.whys[d.Why]...)
	}
	if u.o.Class != nil && d.Class != 0 && d.G > 0 {
		b = append(b, u.class(d.Class)...)
	}
	if u.o.Stack != nil && d.Stack != 0 {
		b = u.appendStack(b, d.Stack)
	}
	if !u.o.NoQueues {
		if d.P >= 0 {
			b = appendNum(b, `,"ll":`, int64(d.Local))
		}
		b = appendNum(b, `,"gl":`, int64(d.Global))
	}
	return append(b, u.say.bases[d.Basis]...)
}

// class is the part of a line that says a class.
func (u *Dump) class(id int32) string {
	if int(id) >= len(u.of) {
		u.of = append(u.of, make([]string, int(id)+1-len(u.of))...)
	}
	if u.of[id] == "" {
		if name := u.o.Class(id); name != "" {
			u.of[id] = `,"class":` + quoted(name)
		}
	}
	return u.of[id]
}

// appendStack appends the frames of a stack, if there are any.
func (u *Dump) appendStack(b []byte, stack int32) []byte {
	sep := `,"stack":[`
	for _, f := range u.o.Stack(stack) {
		b = append(append(b, sep...), quoted(f)...)
		sep = ","
	}
	if sep == "," {
		b = append(b, ']')
	}
	return b
}

// quoted returns s as JSON has it.
func quoted(s string) string {
	b, err := encode(s)
	if err != nil {
		panic(err) // there is none for a string
	}
	return string(b)
}

// fragments are the parts of a line that are one of few words, by the number of the
// word. For a cause or a reason that is not known there is none.
type fragments struct{ kinds, sources, queues, whys, reasons, bases [256]string }

func newFragments() *fragments {
	return &fragments{
		kinds:   wrapped[reference.Kind](`,"k":"`, `"`),
		sources: wrapped[reference.Source](`,"src":"`, `"`),
		queues:  wrapped[reference.Queue](`,"to":"`, `"`),
		whys:    wrapped(`,"why":"`, `"`, reference.WhyUnknown),
		reasons: wrapped(`,"reason":"`, `"`, reference.ReasonNone),
		bases:   wrapped[reference.Basis](`,"basis":"`, "\"}\n"),
	}
}

// wrapped puts each word between two strings, but for some.
func wrapped[W interface {
	~uint8
	String() string
}](before, after string, but ...W) (out [256]string) {
	for i := range out {
		if w := W(i); w.String() != "" && !slices.Contains(but, w) {
			out[i] = before + w.String() + after
		}
	}
	return out
}

func appendNum(b []byte, key string, n int64) []byte {
	return strconv.AppendInt(append(b, key...), n, 10)
}

func appendVictim(b []byte, d *reference.Decision) []byte {
	if d.Victim < 0 {
		return b
	}
	return appendNum(b, `,"victim":`, int64(d.Victim))
}

func appendBatch(b []byte, d *reference.Decision) []byte {
	if d.Batch <= 0 {
		return b
	}
	return appendNum(b, `,"batch":`, int64(d.Batch))
}

// DumpUnits writes units of work as JSON Lines, one object a unit.
type DumpUnits struct{ enc *json.Encoder }

// NewDumpUnits returns a DumpUnits that writes to w.
func NewDumpUnits(w io.Writer) *DumpUnits {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return &DumpUnits{enc}
}

// Write writes one unit, in one Write.
func (u *DumpUnits) Write(x work.Unit) error {
	return u.enc.Encode(jsondoc.Unit{Class: x.Class, Kind: x.Kind, How: x.How.String(), G: x.G, FromNs: x.From, ToNs: x.To})
}
