// Package exposition writes metrics as text.
package exposition

import (
	"fmt"
	"io"
)

type Encoder struct {
	w      io.Writer
	Writes int
}

func NewEncoder(w io.Writer) *Encoder { return &Encoder{w: w} }

// Gauge writes one metric.
func (e *Encoder) Gauge(name string, labels [][2]string, value float64) error {
	if err := e.emit(name); err != nil {
		return err
	}
	separator := "{"
	for _, label := range labels {
		if err := e.emit(separator + label[0] + `="` + label[1] + `"`); err != nil {
			return err
		}
		separator = ","
	}
	return e.emit(fmt.Sprintf("} %g\n", value))
}

func (e *Encoder) emit(s string) error {
	e.Writes++
	_, err := io.WriteString(e.w, s)
	return err
}
