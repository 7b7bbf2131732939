package report

import (
	"io"
	"strconv"

	"github.com/gmpscope/gmpscope/analyze/work"
)

// DumpUnits writes units of work as JSON Lines, one object a unit. The keys are described in
// docs/work.md.
type DumpUnits struct {
	w   io.Writer
	buf []byte
}

// NewDumpUnits returns a DumpUnits that writes to w.
func NewDumpUnits(w io.Writer) *DumpUnits { return &DumpUnits{w: w} }

// Write writes one unit, in one Write.
func (u *DumpUnits) Write(x work.Unit) error {
	b := append(append(u.buf[:0], `{"class":`...), quoted(x.Class)...)
	b = append(append(b, `,"kind":`...), quoted(x.Kind)...)
	b = append(append(append(b, `,"how":"`...), x.How.String()...), `","g":`...)
	b = strconv.AppendInt(b, x.G, 10)
	b = appendNum(b, `,"t0_ns":`, x.From)
	b = appendNum(b, `,"t1_ns":`, x.To)
	u.buf = append(b, "}\n"...)
	_, err := u.w.Write(u.buf)
	return err
}
