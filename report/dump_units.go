package report

import (
	"encoding/json"
	"io"

	"github.com/gmpscope/gmpscope/analyze/work"
	"github.com/gmpscope/gmpscope/internal/jsondoc"
)

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
