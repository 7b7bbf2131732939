// Package tariff reads tables of tariffs, a line a rate.
package tariff

import (
	"io"
	"strings"
)

type Rate struct {
	Zone  string
	Price string
}

// A Reader reads rates.
type Reader struct{ in io.Reader }

func NewReader(in io.Reader) *Reader { return &Reader{in: in} }

// Next returns the next rate, and false at the end.
func (r *Reader) Next() (Rate, bool) {
	text, ok := r.line()
	if !ok {
		return Rate{}, false
	}
	zone, price, _ := strings.Cut(text, ";")
	return Rate{zone, price}, true
}

func (r *Reader) line() (string, bool) {
	var text strings.Builder
	for {
		b, err := r.readByte()
		if err != nil {
			return "", false
		}
		if b == '\n' {
			return text.String(), true
		}
		text.WriteByte(b)
	}
}

func (r *Reader) readByte() (byte, error) {
	if in, ok := r.in.(io.ByteReader); ok {
		return in.ReadByte()
	}
	var b [1]byte
	_, err := io.ReadFull(r.in, b[:])
	return b[0], err
}
