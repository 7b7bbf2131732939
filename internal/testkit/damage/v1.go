package damage

import "encoding/binary"

// Events of the format before Go 1.22 that are unlike the others. See
// runtime/trace.go, Go 1.21.
const (
	evBatchV1   = 1
	evStringV1  = 37
	evUserLogV1 = 48
)

// blockV1 reads events up to the next batch.
func (r *cursor) blockV1() Block {
	blk := Block{Kind: evBatchV1}
	for len(r.b) > 0 {
		if len(blk.Events) > 0 && r.b[0]&0x3f == evBatchV1 {
			return blk
		}
		at := r.b
		e := r.eventV1()
		if r.bad {
			r.bad, r.b, blk.Rest = false, nil, at
			break
		}
		blk.Events = append(blk.Events, e)
	}
	return blk
}

func (r *cursor) eventV1() Event {
	first := r.byte()
	e := Event{Kind: first & 0x3f, bits: first >> 6}
	switch e.Kind {
	case evStringV1:
		e.Args = []uint64{r.uvarint()}
		e.Text = r.bytes(r.uvarint())
		return e
	case evBatchV1:
		e.Args = []uint64{r.uvarint(), r.uvarint()}
		return e
	}
	if e.bits < 3 {
		for range e.bits + 1 {
			e.Args = append(e.Args, r.uvarint())
		}
		return e
	}
	before := len(r.b)
	size := r.uvarint()
	e.long = before - len(r.b)
	sub := &cursor{b: r.bytes(size)}
	for len(sub.b) > 0 && !sub.bad {
		e.Args = append(e.Args, sub.uvarint())
	}
	r.bad = r.bad || sub.bad
	if e.Kind == evUserLogV1 {
		e.Text = r.bytes(r.uvarint())
	}
	return e
}

func (blk *Block) appendV1(b []byte) []byte {
	for i := range blk.Events {
		e := &blk.Events[i]
		if e.Kind == evStringV1 || e.Kind == evBatchV1 || e.bits < 3 && len(e.Args) == int(e.bits)+1 {
			b = e.appendArgs(append(b, e.Kind|e.bits<<6))
		} else {
			data := e.appendArgs(nil)
			b = append(b, e.Kind|3<<6)
			b = append(appendPadded(b, uint64(len(data)+blk.Size), e.long), data...)
		}
		if e.Text != nil {
			b = append(binary.AppendUvarint(b, uint64(len(e.Text))), e.Text...)
		}
	}
	return append(b, blk.Rest...)
}
