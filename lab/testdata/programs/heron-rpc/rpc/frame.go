// Package rpc makes calls over one connection: frames of a number, a length
// and a body.
package rpc

import (
	"encoding/binary"
	"io"
)

type frame struct {
	call uint32
	body []byte
}

func readFrame(r io.Reader) (f frame, err error) {
	var head [8]byte
	if _, err = io.ReadFull(r, head[:]); err != nil {
		return f, err
	}
	f.call = binary.BigEndian.Uint32(head[:4])
	f.body = make([]byte, binary.BigEndian.Uint32(head[4:]))
	_, err = io.ReadFull(r, f.body)
	return f, err
}

func writeFrame(w io.Writer, f frame) error {
	out := binary.BigEndian.AppendUint32(nil, f.call)
	out = binary.BigEndian.AppendUint32(out, uint32(len(f.body)))
	_, err := w.Write(append(out, f.body...))
	return err
}
