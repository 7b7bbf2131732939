package fleet

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"

	"github.com/gmpscope/gmpscope/internal/files"
)

// maxLine bounds a line of a file of summaries, bytes. A record has some 10 KB.
const maxLine = 4 << 20

// header is the first line of a file of summaries, footer the last.
type header struct {
	Schema int `json:"gmpscope_summaries"`
}

const footerStart = `{"records":`

type footer struct {
	Records *int64    `json:"records"`
	Unread  []Problem `json:"unread,omitempty"`
}

// Writer writes records as a file of summaries.
type Writer struct {
	z    *gzip.Writer
	n    int64
	last string
	err  error
}

// NewWriter returns a Writer to w.
func NewWriter(w io.Writer) *Writer { return newWriter(w, gzip.DefaultCompression) }

func newWriter(w io.Writer, level int) *Writer {
	z, err := gzip.NewWriterLevel(w, level)
	out := &Writer{z: z, err: err}
	out.line(header{Schema})
	return out
}

func (w *Writer) line(v any) {
	if w.err != nil {
		return
	}
	b, err := json.Marshal(v)
	if err == nil {
		_, err = w.z.Write(append(b, '\n'))
	}
	w.err = err
}

// Write writes a record. Its key must be greater than that of the record before.
func (w *Writer) Write(r *Record) error {
	if w.err == nil && r.Key <= w.last {
		w.err = errors.New("summaries are not in the order of their keys")
	}
	w.line(r)
	w.n, w.last = w.n+1, r.Key
	return w.err
}

// Close writes the end of the file, with the inputs that could not be summarized. Without
// it the file is truncated.
func (w *Writer) Close(unread []Problem) error {
	w.line(footer{&w.n, unread})
	if w.err != nil {
		return w.err
	}
	return w.z.Close()
}

var (
	errNotSummaries = errors.New("not a file of summaries")
	errNewer        = errors.New("the summaries were written by a later version of gmpscope")
	errTruncated    = errors.New("the file of summaries is truncated") // the records before its end are valid
)

// Reader reads the records of a file of summaries, compressed or not, which need not be
// trusted.
type Reader struct {
	lines  *bufio.Scanner
	n      int64
	err    error
	unread []Problem // after the end: the inputs that could not be summarized when the file was made
}

// NewReader returns a Reader of r.
func NewReader(r io.Reader) (*Reader, error) {
	br := bufio.NewReader(r)
	var from io.Reader = br
	if p, _ := br.Peek(4); files.Compression(p) == "gzip" {
		z, err := gzip.NewReader(br)
		if err != nil {
			return nil, errNotSummaries
		}
		from = z
	}
	out := &Reader{lines: bufio.NewScanner(from)}
	out.lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	var h header
	if !out.lines.Scan() || json.Unmarshal(out.lines.Bytes(), &h) != nil || h.Schema < 1 {
		return nil, errNotSummaries
	}
	if h.Schema > Schema {
		return nil, fmt.Errorf("%w: schema %d, and this one knows %d", errNewer, h.Schema, Schema)
	}
	return out, nil
}

// Next returns the next record, or io.EOF after the last. After another error the records
// before it are valid.
func (r *Reader) Next() (rec *Record, err error) {
	if r.err != nil {
		return nil, r.err
	}
	defer func() { r.err = err }()
	if !r.lines.Scan() {
		if err := r.lines.Err(); errors.Is(err, bufio.ErrTooLong) {
			return nil, fmt.Errorf("record %d has more than %d MiB", r.n+1, maxLine>>20)
		}
		return nil, fmt.Errorf("%w after %d records", errTruncated, r.n)
	}
	line := r.lines.Bytes()
	var end footer
	if bytes.HasPrefix(line, []byte(footerStart)) && json.Unmarshal(line, &end) == nil && end.Records != nil {
		if *end.Records != r.n {
			return nil, fmt.Errorf("%w: %d records of %d", errTruncated, r.n, *end.Records)
		}
		r.unread = end.Unread
		return nil, io.EOF
	}
	rec = &Record{}
	if err := json.Unmarshal(line, rec); err != nil {
		if !r.lines.Scan() { // it was the last line
			return nil, fmt.Errorf("%w after %d records", errTruncated, r.n)
		}
		return nil, fmt.Errorf("record %d is damaged: %w", r.n+1, err)
	}
	if err := rec.validate(); err != nil {
		return nil, fmt.Errorf("record %d makes no sense: %w", r.n+1, err)
	}
	r.n++
	return rec, nil
}

func cached(ctx context.Context, cache files.Cache, name string) (*Record, error) {
	content, err := cache.Get(ctx, name, maxLine)
	if err != nil {
		return nil, err
	}
	r, err := NewReader(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	rec, err := r.Next()
	if err != nil {
		return nil, err
	}
	if _, err := r.Next(); !errors.Is(err, io.EOF) {
		return nil, errTruncated
	}
	return rec, nil
}

func putCached(ctx context.Context, cache files.Cache, name string, rec *Record) error {
	var content bytes.Buffer
	w := NewWriter(&content)
	if err := errors.Join(w.Write(rec), w.Close(nil)); err != nil {
		return err
	}
	return cache.Put(ctx, name, content.Bytes())
}
