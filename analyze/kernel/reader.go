package kernel

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/gmpscope/gmpscope/internal/files"
)

const (
	bufferSize = 256 << 10
	maxLine    = 64 << 10

	// window is how many records are sorted by time at once: each CPU writes by itself, and
	// readers of all CPUs at once mix them up a little.
	window = 4096

	// What unpacks to more than maxSize, and more than maxRatio-fold, is refused, as of a trace.
	maxSize  = 256 << 20
	maxRatio = 200

	// headLines is how many lines may come before the first record.
	headLines = 100_000
)

// ErrNoRecords reports that an input holds no records of the kernel's scheduler.
var ErrNoRecords = errors.New("no records of the kernel's scheduler")

const howToRecord = `give the text of ftrace (sched_switch, sched_waking) or of "perf script"`

// Reader reads the records of a text in order of time. It is not safe for concurrent use.
type Reader struct {
	name     string
	br       *bufio.Reader
	unpacked io.ReadCloser // nil if it is not compressed
	stored   meter         // bytes of the text as stored
	size     int64         // bytes of it that were read
	parser
	line   int64    // number of the last line
	window []queued // a binary heap
	seq    int64    // records that were put into it
	moves  int64    // and places that records were moved to in it
	last   int64    // time of the record that was given last
	latest int64    // largest time of a record that was read
	any    bool     // one was given
	end    error    // of the text

	lost    int64 // marks of lost records
	late    int64 // records that came too late, and count as lost
	records int64
}

type queued struct {
	Record
	seq int64
}

// before reports whether a record comes before another: equal times in the order of their lines.
func (q *queued) before(x *queued) bool {
	return q.Time < x.Time || q.Time == x.Time && q.seq < x.seq
}

type meter struct {
	r io.Reader
	n int64
}

func (m *meter) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	m.n += int64(n)
	return n, err
}

// New returns a Reader of a text, perhaps compressed with gzip or zstd, and fails if it has
// no record. The name is for messages. It does not close r.
func New(r io.Reader, name string) (*Reader, error) {
	k := &Reader{name: name, parser: parser{comms: newComms()}}
	if err := k.decompress(r); err != nil {
		return nil, k.fail(err)
	}
	for k.end == nil && len(k.window) == 0 {
		k.read()
		if k.line > headLines && len(k.window) == 0 {
			return nil, k.fail(fmt.Errorf("%w in its first %d lines: %s", ErrNoRecords, headLines, howToRecord))
		}
	}
	if k.end != nil && k.end != io.EOF {
		return nil, k.end
	}
	if len(k.window) == 0 {
		return nil, k.fail(fmt.Errorf("%w in it: %s", ErrNoRecords, howToRecord))
	}
	return k, nil
}

// Close frees the decompressor.
func (k *Reader) Close() {
	if k.unpacked != nil {
		k.unpacked.Close()
	}
}

func (k *Reader) decompress(r io.Reader) (err error) {
	k.stored.r = r
	k.br = bufio.NewReaderSize(&k.stored, bufferSize)
	if p, _ := k.br.Peek(4); string(p) == "PERF" {
		return fmt.Errorf(`%w in it: it is what "perf record" writes: give what "perf script --ns -i FILE" prints of it`, ErrNoRecords)
	}
	k.unpacked, _, err = files.Unpacker(k.br)
	if k.unpacked != nil {
		k.br = bufio.NewReaderSize(k.unpacked, bufferSize)
	}
	return err
}

func (k *Reader) fail(err error) error { return fmt.Errorf("reading %s: %w", k.name, err) }

// Next returns the next record, and io.EOF after the last one.
func (k *Reader) Next() (Record, error) {
	for k.end == nil && len(k.window) < window {
		k.read()
	}
	if len(k.window) == 0 {
		return Record{}, k.end
	}
	r := k.pop()
	k.last, k.any = r.Time, true
	k.records++
	return r, nil
}

func (k *Reader) read() {
	line, err := k.br.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull) || len(line) > maxLine:
		k.end = k.fail(fmt.Errorf("line %d is longer than %d bytes: %s", k.line+1, maxLine, howToRecord))
		return
	case err != nil && err != io.EOF:
		k.end = k.fail(fmt.Errorf("after line %d: %w", k.line, err))
		return
	case err != nil:
		k.end = io.EOF
	}
	if k.size += int64(len(line)); k.size > maxSize && k.size/maxRatio > k.stored.n {
		k.end = k.fail(fmt.Errorf("it unpacks to more than %d times its size, after line %d: no records do: unpack it first if it is yours", maxRatio, k.line))
		return
	}
	if len(line) == 0 {
		return
	}
	k.line++
	r, ok, err := k.parse(bytes.TrimRight(line, "\r\n"))
	if err != nil {
		k.end = k.fail(fmt.Errorf("line %d: %w", k.line, err))
		return
	}
	if ok {
		k.put(r)
	}
}

// put puts a record into the window. One that is later than the window is long is left out,
// and counts as lost.
func (k *Reader) put(r Record) {
	if r.Kind == Lost {
		k.lost++
		r.Time = max(k.latest, k.last) // the mark stands where the next record of the CPU comes
	}
	if k.any && r.Time < k.last {
		k.late++
		r = Record{Kind: Lost, CPU: r.CPU, Time: k.last}
	}
	k.latest = max(k.latest, r.Time)
	k.seq++
	k.window = append(k.window, queued{r, k.seq})
	w := k.window
	for i := len(w) - 1; i > 0 && w[i].before(&w[(i-1)/2]); i = (i - 1) / 2 {
		w[i], w[(i-1)/2] = w[(i-1)/2], w[i]
		k.moves++
	}
}

func (k *Reader) pop() Record {
	w, last := k.window, len(k.window)-1
	first := w[0].Record
	w[0] = w[last]
	w = w[:last]
	for i, c := 0, 1; c < last; i, c = c, 2*c+1 {
		if c+1 < last && w[c+1].before(&w[c]) {
			c++
		}
		if !w[c].before(&w[i]) {
			break
		}
		w[i], w[c] = w[c], w[i]
		k.moves++
	}
	k.window = w
	return first
}

// ResolutionNs returns the resolution of the times, in ns: 1000 if they have six
// decimals.
func (k *Reader) ResolutionNs() int64 {
	if k.digits == 9 {
		return 1
	}
	return 1000
}

// Name returns the name of a thread; in place of what cannot be printed it has U+FFFD.
func (k *Reader) Name(c Comm) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, k.comms.names[c])
}
