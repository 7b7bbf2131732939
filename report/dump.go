package report

import (
	"io"
	"strconv"

	"github.com/gmpscope/gmpscope/reference"
)

// Dump writes decisions as JSON Lines, one object a decision, in the order in
// which it gets them. The keys are described in docs/json.md. Buffering is the
// writer's business; one decision is one Write.
type Dump struct {
	w   io.Writer
	o   DumpOptions
	buf []byte
}

// DumpOptions are the choices of a Dump.
type DumpOptions struct {
	// NoQueues leaves out what a trace without rebuilt queues cannot tell: the
	// queue lengths.
	NoQueues bool
}

// NewDump returns a Dump that writes to w.
func NewDump(w io.Writer, o DumpOptions) *Dump {
	return &Dump{w: w, o: o, buf: make([]byte, 0, 256)}
}

// Write writes one decision. It does not keep d.
func (u *Dump) Write(d *reference.Decision) error {
	u.buf = u.append(u.buf[:0], d)
	_, err := u.w.Write(u.buf)
	return err
}

// append appends the line of d. It is written by hand because a trace has many
// millions of decisions; all strings in it are our own words, in plain ASCII.
func (u *Dump) append(b []byte, d *reference.Decision) []byte {
	b = append(b, `{"t":`...)
	b = strconv.AppendInt(b, d.Time, 10)
	b = appendWord(b, `,"k":"`, d.Kind.String())
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
		b = appendWord(b, `,"src":"`, d.Src.String())
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
		b = appendReason(b, d)
	case reference.KindLost:
		b = appendNum(b, `,"wait":`, d.Wait)
	case reference.KindReady:
		b = appendWord(b, `,"to":"`, d.To.String())
		b = appendWhy(b, d)
	case reference.KindMove:
		b = appendVictim(b, d)
		b = appendWord(b, `,"to":"`, d.To.String())
		b = appendWhy(b, d)
	case reference.KindSteal:
		b = appendVictim(b, d)
		b = appendBatch(b, d)
	case reference.KindOverflow, reference.KindGlobalBatch, reference.KindProcs:
		b = appendBatch(b, d)
	case reference.KindStop, reference.KindPreempt:
		b = appendWord(b, `,"why":"`, d.Why.String())
		b = appendReason(b, d)
	default:
		b = appendWhy(b, d)
	}
	if !u.o.NoQueues {
		if d.P >= 0 {
			b = appendNum(b, `,"ll":`, int64(d.Local))
		}
		b = appendNum(b, `,"gl":`, int64(d.Global))
	}
	b = append(b, `,"basis":"`...)
	b = append(b, d.Basis.Level().String()...)
	if r := d.Basis.Rule(); r != reference.RuleNone {
		b = append(b, ':')
		b = append(b, r.String()...)
	}
	return append(b, "\"}\n"...)
}

func appendNum(b []byte, key string, n int64) []byte {
	return strconv.AppendInt(append(b, key...), n, 10)
}

func appendWord(b []byte, key, s string) []byte {
	b = append(b, key...)
	b = append(b, s...)
	return append(b, '"')
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

func appendWhy(b []byte, d *reference.Decision) []byte {
	if d.Why == reference.WhyUnknown {
		return b
	}
	return appendWord(b, `,"why":"`, d.Why.String())
}

func appendReason(b []byte, d *reference.Decision) []byte {
	if d.Reason == reference.ReasonNone {
		return b
	}
	return appendWord(b, `,"reason":"`, d.Reason.String())
}
