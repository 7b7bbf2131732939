package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"reflect"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/gmpscope/gmpscope/analyze"
	"github.com/gmpscope/gmpscope/analyze/findings"
	"github.com/gmpscope/gmpscope/analyze/stacks"
	"github.com/gmpscope/gmpscope/analyze/waits"
	"github.com/gmpscope/gmpscope/internal/jsondoc"
	"github.com/gmpscope/gmpscope/internal/quantity"
	"github.com/gmpscope/gmpscope/internal/term"
	"github.com/gmpscope/gmpscope/report/internal/words"
)

// JSONOptions select what [WriteJSON] writes.
type JSONOptions struct {
	// Timeline adds the timeline, which is large.
	Timeline bool
}

// analysisOf is the document as it is written.
func analysisOf(doc *Document, o JSONOptions) *jsondoc.Analysis {
	r := doc.Result
	out := &jsondoc.Analysis{
		Schema: doc.Schema, Tool: doc.Tool,
		Verdict:        jsondoc.Verdict{Status: doc.Verdict.Status, Label: doc.Verdict.Label, Headline: doc.Verdict.Headline, Lines: orEmpty(doc.Verdict.Lines)},
		Trace:          jsondoc.Trace{Trace: withWarnings(r.Trace), Changes: orEmpty(r.Procs.Procs)},
		Reconstruction: r.Reconstruction, Program: r.Program,
		Waits: jsondoc.Waits{
			Summary: r.Waits.All, User: r.Waits.User, Self: r.Waits.Self, System: r.Waits.System, Worst: orEmpty(r.Waits.Worst),
			OverTime: waits.OverTime{FromNs: r.Waits.OverTime.FromNs, BinNs: r.Waits.OverTime.BinNs, Causes: orEmpty(r.Waits.OverTime.Causes)},
		},
		Ps: orEmpty(r.Procs.Ps), Preemptions: r.Procs.Preemptions, Pressure: r.Pressure,
		Fairness:     r.Fairness,
		TimeInStates: jsondoc.TimeInStates{Program: *lifeOf(&r.Breakdown.Program), Runtime: *lifeOf(&r.Breakdown.Runtime)}, Work: r.Work,
		Span: r.Span, Classes: classesOf(r, doc.names), Stacks: stacks.Result{Frames: orEmpty(r.Stacks.Frames), Rows: orEmpty(r.Stacks.Rows), Woken: orEmpty(r.Stacks.Woken)}, Findings: findingsOf(r.Findings), Doubts: orEmpty(r.Doubts), Detectors: orEmpty(r.Detectors),
		Suppressed: suppressedOf(r.Suppressed),
		Focus:      r.Focus,
		Kernel:     r.Kernel,
		Reference:  doc.Split,
	}
	out.Fairness.Classes = orEmpty(out.Fairness.Classes)
	if !r.Trace.Reduced { // an old trace does not show these
		out.Steals, out.Handoffs, out.Retakes = &r.Procs.Steals, &r.Procs.Handoffs, &r.Procs.Retakes
		out.Queues = &jsondoc.Queues{Queues: r.Procs.Queues, Overflows: r.Procs.Overflows, GlobalTakes: r.Procs.GlobalTakes}
	}
	if r.LeftOut != (findings.LeftOut{}) {
		out.LeftOut = &r.LeftOut
	}
	if o.Timeline {
		out.Timeline = &r.Timeline
	}
	return out
}

// WriteJSON writes doc as one JSON object: a line for each key, and for each
// element of the lists of objects. Equal input gives equal bytes.
func WriteJSON(w io.Writer, doc *Document, o JSONOptions) error {
	if doc == nil || doc.Result == nil {
		return fmt.Errorf("json: no result")
	}
	return writeObject(w, analysisOf(doc, o))
}

// writeObject writes the struct that v points to as one JSON object: a line for
// each key, and for each element of the lists of objects.
func writeObject(w io.Writer, v any) error {
	bw := bufio.NewWriterSize(w, 64<<10)
	before := "{\n"
	for key, value := range members(reflect.ValueOf(v).Elem()) {
		fmt.Fprintf(bw, "%s%q: ", before, key)
		if err := writeValue(bw, value.Interface()); err != nil {
			return fmt.Errorf("json: %s: %w", key, err)
		}
		before = ",\n"
	}
	bw.WriteString("\n}\n")
	return bw.Flush()
}

// members yields the keys of a struct with their values, as encoding/json has them:
// embedded structs give theirs; what is empty is left out where its tag says so, and unexported fields are.
func members(v reflect.Value) iter.Seq2[string, reflect.Value] {
	return func(yield func(string, reflect.Value) bool) {
		for field, value := range v.Fields() {
			if field.Anonymous {
				if value.Kind() == reflect.Pointer && value.IsNil() {
					continue
				}
				for key, member := range members(reflect.Indirect(value)) {
					if !yield(key, member) {
						return
					}
				}
				continue
			}
			key, options, _ := strings.Cut(field.Tag.Get("json"), ",")
			if !field.IsExported() || key == "-" || options == "omitempty" && value.IsZero() {
				continue
			}
			if !yield(key, value) {
				return
			}
		}
	}
}

// writeValue writes v in one line, or, if it is a list of objects, each of them in a line.
func writeValue(w *bufio.Writer, v any) error {
	rv := reflect.ValueOf(v)
	if v == nil || rv.Kind() != reflect.Slice || rv.Type().Elem().Kind() != reflect.Struct || rv.Len() == 0 {
		b, err := encode(v)
		if err != nil {
			return err
		}
		_, err = w.Write(b)
		return err
	}
	before := "[\n"
	for i := range rv.Len() {
		b, err := encode(rv.Index(i).Interface())
		if err != nil {
			return err
		}
		w.WriteString(before)
		if _, err := w.Write(b); err != nil {
			return err
		}
		before = ",\n"
	}
	_, err := w.WriteString("\n]")
	return err
}

// encode marshals v. Characters of HTML stay as they are; those that would drive
// a terminal are escaped. A number that JSON does not have becomes 0.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	if _, ok := err.(*json.UnsupportedValueError); ok {
		b.Reset()
		err = e.Encode(finite(reflect.ValueOf(v)).Interface())
	}
	return escape(bytes.TrimRight(b.Bytes(), "\n")), err
}

// escape writes the characters of JSON that are hidden, or part of an order to a
// build service (see term.Visible), as \u sequences; the document is the same. Those of
// ASCII but DEL the encoder escapes itself.
func escape(js []byte) []byte {
	js = bytes.ReplaceAll(js, []byte("##"), []byte(`#\u0023`)) // strings only have it
	if !slices.ContainsFunc(js, func(b byte) bool { return b >= 0x7f }) {
		return js
	}
	hidden := func(r rune) bool { return r >= 0x7f && term.Hidden(r) }
	if !bytes.ContainsFunc(js, hidden) {
		return js
	}
	out := make([]byte, 0, len(js)+len(js)/8)
	for _, r := range string(js) {
		switch {
		case !hidden(r):
			out = utf8.AppendRune(out, r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return out
}

// finite returns a copy of v in which every number is one.
func finite(v reflect.Value) reflect.Value {
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	switch v.Kind() {
	case reflect.Float32, reflect.Float64:
		c.SetFloat(quantity.Finite(v.Float()))
	case reflect.Struct:
		for i := range v.NumField() {
			if c.Field(i).CanSet() {
				c.Field(i).Set(finite(v.Field(i)))
			}
		}
	case reflect.Pointer:
		if !v.IsNil() {
			c.Set(finite(v.Elem()).Addr())
		}
	case reflect.Slice:
		if !v.IsNil() {
			c.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
			for i := range v.Len() {
				c.Index(i).Set(finite(v.Index(i)))
			}
		}
	case reflect.Map:
		if !v.IsNil() {
			c.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
			for _, k := range v.MapKeys() {
				c.SetMapIndex(k, finite(v.MapIndex(k)))
			}
		}
	}
	return c
}

// orEmpty makes a missing list an empty one: null is no list.
func orEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

func withWarnings(t analyze.Trace) analyze.Trace {
	t.Warnings = orEmpty(t.Warnings)
	return t
}

func classesOf(r *analyze.Result, names *words.Names) []jsondoc.Class {
	out := make([]jsondoc.Class, 0, len(r.Waits.Classes))
	for _, c := range r.Waits.Classes {
		causes := c.Causes
		if len(causes) == 0 {
			causes = c.Waits.Causes
		}
		out = append(out, jsondoc.Class{
			ID: c.ID, Name: c.Name, Short: names.ShortName(c.Name), Creator: c.Creator, StartedBy: c.StartedBy, System: c.System,
			Goroutines: c.Goroutines, Starts: c.Starts, RunningNs: c.RunningNs,
			Waits: c.Waits, Causes: orEmpty(causes), Antagonists: orEmpty(c.Antagonists),
			Held: orEmpty(c.Held), Worst: orEmpty(c.Worst), WokenBy: orEmpty(c.WokenBy), BlockedBefore: orEmpty(c.BlockedBefore),
			Tasks: orEmpty(c.Tasks), Regions: orEmpty(c.Regions),
		})
		if b := r.Breakdown.Of(c.ID); b != nil {
			out[len(out)-1].Life = lifeOf(&b.TimeByState)
		}
	}
	return out
}

func findingsOf(fs []findings.Finding) []findings.Finding {
	out := make([]findings.Finding, 0, len(fs))
	for _, f := range fs {
		f.Actors, f.Evidence, f.Advice = orEmpty(f.Actors), orEmpty(f.Evidence), orEmpty(f.Advice)
		out = append(out, f)
	}
	return out
}

// suppressedOf makes the lists of suppressed findings lists, even if they are empty.
func suppressedOf(list []findings.Suppressed) []findings.Suppressed {
	out := slices.Clone(list)
	for i := range out {
		out[i].Finding = findingsOf([]findings.Finding{out[i].Finding})[0]
	}
	return out
}
