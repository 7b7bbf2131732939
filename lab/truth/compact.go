package truth

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
)

const (
	compactMagic = "gmpscope compact truth 1\n"
	// compactUnit is the resolution of the times, in ns. They only break ties
	// where truth and dump disagree about how often something happened.
	compactUnit = 1000
	// compactLimit bounds how many lines a file may hold: this form is for small
	// recordings.
	compactLimit = 1 << 18
)

// ErrTooLong means that a truth is not one of a small recording.
var ErrTooLong = errors.New("too much for a compact truth")

var errCompact = errors.New("not a compact truth, or damaged")

// compacted returns what [Compare] reads of a line, or false if it reads nothing.
func compacted(l Line) (Line, bool) {
	c := newLine(l.K)
	c.T = l.T / compactUnit * compactUnit
	switch l.K {
	case "start":
		c.G, c.Src, c.Victim, c.Batch, c.LL, c.GL, c.Locked = l.G, l.Src, l.Victim, l.Batch, l.LL, l.GL, l.Locked
	case "ready":
		c.G, c.To = l.G, l.To
	case "preempt":
		c.G, c.Why, c.Also = l.G, l.Why, l.Also
	case "retake", "handoff":
		c.P, c.By, c.Started = l.P, l.By, l.Started
	case "overflow":
		c.P, c.Batch = l.P, l.Batch
	default:
		return c, false
	}
	return c, true
}

// words are the texts of a line; they go into the file as numbers.
func (l *Line) words() []*string { return []*string{&l.K, &l.Src, &l.To, &l.Why, &l.By} }

// numbers are the numbers of a line that the compact form keeps, but for the time.
func (l *Line) numbers() []*int64 { return []*int64{&l.G, &l.P, &l.Victim, &l.Batch, &l.LL, &l.GL} }

// flags packs the truth values of a line; setFlags unpacks them.
func (l *Line) flags() uint64 {
	var f uint64
	if l.Locked {
		f |= 1
	}
	if l.Started != nil {
		f |= 2
		if *l.Started {
			f |= 4
		}
	}
	return f
}

func (l *Line) setFlags(f uint64) {
	l.Locked = f&1 != 0
	if f&2 != 0 {
		started := f&4 != 0
		l.Started = &started
	}
}

// WriteCompact writes what a score needs of the truth, a few bytes a line. The
// fields of all lines come one after the other, which compresses far better
// than line by line.
func WriteCompact(w io.Writer, lines []Line) error {
	var kept []Line
	for _, l := range lines {
		if c, ok := compacted(l); ok {
			kept = append(kept, c)
		}
	}
	if len(kept) > compactLimit {
		return fmt.Errorf("%w: %d lines, at most %d can be made compact", ErrTooLong, len(kept), compactLimit)
	}
	var table []string
	index := make(map[string]uint64)
	word := func(s string) uint64 {
		i, ok := index[s]
		if !ok {
			i = uint64(len(table))
			index[s] = i
			table = append(table, s)
		}
		return i
	}
	var body []byte
	last := int64(0)
	for _, l := range kept {
		body = binary.AppendVarint(body, l.T/compactUnit-last)
		last = l.T / compactUnit
	}
	for k := range (&Line{}).numbers() {
		for i := range kept {
			body = binary.AppendVarint(body, *kept[i].numbers()[k])
		}
	}
	for k := range (&Line{}).words() {
		for i := range kept {
			body = binary.AppendUvarint(body, word(*kept[i].words()[k]))
		}
	}
	for i := range kept {
		body = binary.AppendUvarint(body, word(strings.Join(kept[i].Also, ",")))
	}
	for i := range kept {
		body = binary.AppendUvarint(body, kept[i].flags())
	}
	head := []byte(compactMagic)
	head = binary.AppendUvarint(head, uint64(len(kept)))
	head = binary.AppendUvarint(head, uint64(len(table)))
	for _, s := range table {
		head = binary.AppendUvarint(head, uint64(len(s)))
		head = append(head, s...)
	}
	z, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	_, err = z.Write(slices.Concat(head, body))
	return errors.Join(err, z.Close())
}

// ReadCompact reads what WriteCompact wrote. Times have been rounded down.
func ReadCompact(r io.Reader) ([]Line, error) {
	z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	in := &compactReader{Reader: bufio.NewReader(z)}
	magic := make([]byte, len(compactMagic))
	if _, err := io.ReadFull(in, magic); err != nil || !bytes.Equal(magic, []byte(compactMagic)) {
		return nil, errCompact
	}
	lines := make([]Line, in.length())
	table := make([]string, in.length())
	for i := range table {
		text := make([]byte, in.length())
		in.full(text)
		table[i] = string(text)
	}
	word := func() string {
		i := in.unsigned()
		if i >= uint64(len(table)) {
			in.fail(errCompact)
			return ""
		}
		return table[i]
	}
	last := int64(0)
	for i := range lines {
		last += in.signed()
		lines[i].T = last * compactUnit
	}
	for k := range (&Line{}).numbers() {
		for i := range lines {
			*lines[i].numbers()[k] = in.signed()
		}
	}
	for k := range (&Line{}).words() {
		for i := range lines {
			*lines[i].words()[k] = word()
		}
	}
	for i := range lines {
		if also := word(); also != "" {
			lines[i].Also = strings.Split(also, ",")
		}
	}
	for i := range lines {
		lines[i].setFlags(in.unsigned())
		lines[i].M, lines[i].N, lines[i].Tick = none, none, none
	}
	if in.err != nil {
		return nil, fmt.Errorf("compact truth: %w", in.err)
	}
	return lines, nil
}

// A compactReader reads numbers; after the first error all are 0.
type compactReader struct {
	*bufio.Reader
	err error
}

func (r *compactReader) fail(err error) {
	if r.err == nil && err != nil {
		r.err = err
	}
}

func (r *compactReader) unsigned() uint64 {
	if r.err != nil {
		return 0
	}
	v, err := binary.ReadUvarint(r)
	r.fail(err)
	return v
}

func (r *compactReader) signed() int64 {
	if r.err != nil {
		return 0
	}
	v, err := binary.ReadVarint(r)
	r.fail(err)
	return v
}

func (r *compactReader) length() int {
	n := r.unsigned()
	if n > compactLimit {
		r.fail(errCompact)
		return 0
	}
	return int(n)
}

func (r *compactReader) full(b []byte) {
	if r.err == nil {
		_, err := io.ReadFull(r, b)
		r.fail(err)
	}
}
