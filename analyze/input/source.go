package input

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/gmpscope/gmpscope/analyze/sidecar"
)

const (
	generationLimit = 4 << 30   // bytes of one generation
	v1Limit         = 512 << 20 // bytes of a whole trace of Go 1.21 or older

	ratioLimit = 200       // how many-fold a compressed input may unpack ...
	ratioGrace = 256 << 20 // ... beyond this many bytes

	// How many bytes decoding takes for each byte of a generation, and of a trace of Go 1.21 or older:
	// measured on large traces, and rounded up.
	generationFactor = 6
	v1Factor         = 20

	// batchMemory is what x/exp/trace takes for a batch, however small: bytes.Buffer.ReadFrom makes
	// room for 512 bytes before it reads, and doubles what there was.
	batchMemory = 1200

	// sampleFactor is what decoding takes for each byte of a batch of CPU samples besides: one of six
	// bytes becomes 40, in a slice that grows.
	sampleFactor = 14

	// smallStored is up to how many bytes as stored a trace may take smallMemory, without a limit set
	// by the user. Each byte more may take storedFactor more: real traces take a tenth of that.
	smallStored  = 1 << 20
	smallMemory  = 768 << 20
	storedFactor = 2 << 10

	minSteps     = 192 << 20 // see Steps
	stepsPerByte = 64

	maxLosses = 100 // kept in Stats.Losses

	firstCap = 256 << 10 // capacity of the first generation
	maxHint  = 64 << 20  // one generation says little about the size of the next
	maxSlack = 1 << 20   // unused capacity beyond the length of Data that is not worth a copy

	maxWhole   = 16 << 20 // bytes of a trace for which there is room at once
	roomAtOnce = 16 << 10 // besides, for the header of each generation
)

// Source reads the generations of one trace in the order of the file. It is not safe for
// concurrent use.
type Source struct {
	name    string
	header  Header
	raw     [headerSize]byte // the header as it stands in the file
	in      *meter           // bytes as stored
	plain   *bufio.Reader    // of them, what the decompressor has not taken
	stream  *latch           // bytes uncompressed
	br      *bufio.Reader
	closers []io.Closer // closed last to first
	copy    io.Writer   // Options.Copy
	secrets secrets     // of the URL, of what it led to, and of proxies

	off     int64  // of the next byte of br
	index   int    // of the next generation
	last    uint64 // number of the generation before
	lengths [3]int // of the Data of the last generations, the last first
	spare   []byte // room that the last generation did not need; nil: there is none
	hurt    bool   // bytes were skipped since the last good batch
	time    uint64 // of the last good batch
	strange int    // batches since then whose times are far from it
	padded  bool   // all good batches so far had padded sizes, and there were some
	loose   bool   // one had not
	stopped bool   // the input ends before its end
	end     error  // what Next returns from now on
	stats   Stats
	memory  int64 // Options.MaxMemory

	sidecar    *sidecar.Meta
	sidecarBad string
	maxGen     int64
	maxV1      int64
	maxScan    int64
	grace      int64 // ratioGrace
}

// Header is the format of a trace, by its first 16 bytes.
type Header struct {
	Minor       int    // of "go 1.NN trace": 22, 23, 25 or 26; 11, 19 or 21 in the old format
	V1          bool   // the format before Go 1.22: it has no generations
	Compression string // around the trace: "", "gzip" or "zstd"
}

// Stats counts what was read and what was lost.
type Stats struct {
	Bytes     int64  // uncompressed bytes read, with the header
	Stored    int64  // bytes read before decompression
	LostBytes int64  // uncompressed bytes that are in no generation
	Losses    []Loss // places where something is missing, in the order of the file, the first 100
	LossCount int    // number of all losses
	CutNames  int    // names of a trace of Go 1.21 or older that were longer than 1 KiB, and are cut
	OverLimit string // message about what was omitted because decoding it takes too much memory; "" for nothing
}

// Loss is a place in the trace where something is missing.
type Loss struct {
	Offset     int64  // in the uncompressed trace, in bytes
	Bytes      int64  // number of bytes skipped there; 0 if what is missing is not in the file
	Generation uint64 // the generation that was hit, as numbered in the file; 0 if none or unknown
	Why        string // what is wrong there, in one line
}

// Generation is a part of a trace that can be decoded by itself.
type Generation struct {
	Index  int    // 0, 1, 2, ... in the order of the file
	Number uint64 // as written in the file; a flight recorder starts above 1; 0 in the old format
	Offset int64  // of its first byte in the uncompressed file

	// Data is a whole input for trace.NewReader: header, batches, and the end marker of formats
	// since 1.26, which is supplied if the file has none. It belongs to the caller.
	Data []byte

	Bytes int64 // bytes of Data that are in the file, without the header

	Memory int64 // estimated most memory that decoding takes, in bytes
	Stored int64 // bytes before decompression, from the beginning of the trace to the end of the generation

	// Complete is false if the file ended or was damaged within the generation. Formats before 1.26
	// mark no end; there the next generation is one, and the last must have its frequency or sync
	// batch and end with strings. Reading Data may end with an error, after some events or at once.
	Complete bool

	// Skipped is set if bytes were skipped within it or right before it: batches of any thread may
	// be missing. It is not if the file only ends too early.
	Skipped bool

	// Of a trace of Go 1.21 or older, for Repair.
	minor     int
	maxEvents int64
}

// New returns a Source for a trace from r, compressed or not. The name is for messages. It
// reads the header and fails if r is no trace. Close does not close r.
func New(r io.Reader, name string) (*Source, error) {
	s := &Source{name: name, in: &meter{r: r, ctx: context.Background()}}
	if err := s.start(); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// start undoes the compression and reads the header.
func (s *Source) start() error {
	s.maxGen, s.maxV1, s.maxScan, s.grace = min(generationLimit, math.MaxInt/4), v1Limit, scanLimit, ratioGrace
	p, err := s.sniff()
	if s.in.ctx.Err() != nil {
		return s.fail("reading", context.Cause(s.in.ctx))
	}
	if err != nil {
		return s.fail("reading", err)
	}
	minor, err := s.parseHeader(p)
	if err != nil {
		return s.fail("opening", err)
	}
	s.header.Minor, s.header.V1 = minor, minor < 22
	copy(s.raw[:], p)
	s.discard(headerSize)
	return nil
}

// sniff undoes the compression and returns what shows whether this is a trace. The error says why
// too little came for that.
func (s *Source) sniff() ([]byte, error) {
	if err := s.decompress(); err != nil {
		return nil, err
	}
	p := s.peek(headerSize)
	if !bytes.HasPrefix(p, []byte(headerStart)) {
		p = s.peek(sniffSize) // only now: a live trace may take its time
	}
	if len(p) < headerSize && s.stream.broken() != nil {
		return nil, s.readError()
	}
	return p, nil
}

// parseHeader is parseFileHeader for what may repeat the URL that it came from.
func (s *Source) parseHeader(p []byte) (int, error) {
	minor, err := parseFileHeader(p, s.header.Compression)
	if head := string(p[:min(len(p), shownHead)]); err != nil && s.secrets.scrub(head) != head {
		err = fault{errors.New("not a Go execution trace: " + howToRecord), ErrNotTrace}
	}
	return minor, err
}

// Name returns the name the trace was opened by; of a URL, what [ShownName] leaves.
func (s *Source) Name() string { return s.name }

// Sidecar returns the content of the file beside the trace, nil if there is none, and a message if it
// cannot be used.
func (s *Source) Sidecar() (m *sidecar.Meta, warning string) { return s.sidecar, s.sidecarBad }

// Header returns the format of the trace, by its first bytes.
func (s *Source) Header() Header { return s.header }

// Stats returns the totals so far. They are final once Next has returned an error or
// io.EOF.
func (s *Source) Stats() Stats {
	st := s.stats
	st.Bytes = s.off
	st.Stored = s.in.n
	return st
}

// Close ends reading and closes what Open opened.
func (s *Source) Close() error {
	if s.end == nil {
		s.end = s.fail("reading", errors.New("source is closed"))
	}
	var first error
	for _, c := range slices.Backward(s.closers) {
		first = cmp.Or(first, c.Close())
	}
	s.closers = nil
	return first
}

// Rest reads the rest of the input, so that Options.Copy gets all of it: what comes after
// damage, or after the point where a limit ended the reading. It stops early where compressed
// input unpacks beyond all measure. Next cannot be called afterwards.
func (s *Source) Rest() error {
	if s.end == nil {
		s.end = s.fail("reading", errors.New("its rest is read already"))
	}
	if s.stopped {
		s.stream.err = nil // it was not the stream's own
	}
	buf := make([]byte, windowSize)
	for n := s.off; ; {
		k, err := s.stream.Read(buf)
		n += int64(k)
		switch {
		case s.in.ctx.Err() != nil:
			return s.fail("reading", context.Cause(s.in.ctx))
		case err != nil: // the end, or damage: there is no more
			return nil
		case s.header.Compression != "" && n > s.grace && n/ratioLimit > s.in.n:
			return nil
		}
	}
}

// Next returns the next generation, or io.EOF after the last. A trace in the format before Go 1.22
// is given as one generation. Damage is no error: see Stats. An error means that nothing (more)
// can be had: the context was cancelled, reading failed before anything was found, or a limit was
// exceeded.
func (s *Source) Next() (*Generation, error) {
	if s.end != nil {
		return nil, s.end
	}
	if s.in.ctx.Err() != nil {
		s.end = s.fail("reading", context.Cause(s.in.ctx))
		return nil, s.end
	}
	var g *Generation
	var err error
	if s.header.V1 {
		g, err = s.nextV1()
	} else {
		g, err = s.nextV2()
	}
	if err != nil {
		s.end = err
		return nil, err
	}
	g.Index, g.Stored = s.index, s.stored()
	s.index++
	s.last = g.Number
	s.lengths = [3]int{len(g.Data), s.lengths[0], s.lengths[1]}
	return g, nil
}

// stored returns how many bytes as stored were used so far. It depends on the trace alone, not on the
// pieces in which it came.
func (s *Source) stored() int64 {
	if s.header.Compression == "" {
		return s.off
	}
	return s.in.n - int64(s.plain.Buffered())
}

// Memory returns the memory limit, in bytes, for a trace of which stored bytes have been read:
// Options.MaxMemory, or else a limit by size that only a file made for it exceeds.
func (s *Source) Memory(stored int64) int64 {
	if s.memory > 0 {
		return s.memory
	}
	return smallMemory + storedFactor*max(0, min(stored, math.MaxInt64/storedFactor/2)-smallStored)
}

// Steps returns the limit on the steps of ordering the events of a trace, given the bytes read before
// decompression. A step is a comparison of two threads' times, some 10 ns. Real traces take next to
// none; made-up ones can take the square of their length.
func Steps(stored int64) int64 {
	return minSteps + stepsPerByte*min(stored, math.MaxInt64/stepsPerByte/2)
}

// limit describes, for messages, what Memory returns and how to raise it.
func (s *Source) limit() string {
	if s.memory > 0 {
		return fmt.Sprintf("more memory than the limit of %d MiB: raise it (--max-memory, analyze.Options.MaxMemory)", s.memory>>20)
	}
	return fmt.Sprintf("more than %d MiB of memory, the limit for a trace that is so small as stored: set one to allow more (--max-memory, analyze.Options.MaxMemory)", s.Memory(s.stored())>>20)
}

// marked reports whether the format has end-of-generation markers.
func (s *Source) marked() bool { return s.header.Minor >= 26 }

// peek returns the next n bytes, fewer only if there are no more. It returns a view that is valid
// until the next call.
func (s *Source) peek(n int) []byte {
	p, _ := s.br.Peek(n) // the latch keeps the error
	return p
}

// discard drops n bytes that were peeked.
func (s *Source) discard(n int) {
	k, _ := s.br.Discard(n)
	s.off += int64(k)
}

// lose records a loss at the current offset.
func (s *Source) lose(n int64, generation uint64, why string) {
	s.loseAt(s.off, n, generation, why)
}

func (s *Source) loseAt(off, n int64, generation uint64, why string) {
	s.stats.LostBytes += n
	s.stats.LossCount++
	if len(s.stats.Losses) < maxLosses {
		s.stats.Losses = append(s.stats.Losses, Loss{Offset: off, Bytes: n, Generation: generation, Why: why})
	}
}

// chain returns the check for batches that may follow those of generation cur.
func (s *Source) chain(cur uint64) chainCheck {
	return chainCheck{marked: s.marked(), padded: s.padded, cur: cur, time: s.time}
}

// stop ends the input here.
func (s *Source) stop() {
	s.stopped = true
	s.stream.settle()
	s.br.Reset(s.stream)
}

// noteTail records, once, that something followed the compressed data.
func (s *Source) noteTail() {
	if s.stream.tail {
		s.stream.tail = false
		s.lose(0, 0, fmt.Sprintf("the %s data is followed by something else, which is ignored", s.header.Compression))
	}
}

// bomb ends a compressed input that unpacks without measure. It is an error if nothing was read before.
func (s *Source) bomb() error {
	if s.stopped || s.header.Compression == "" || s.off < s.grace || s.off/ratioLimit < s.in.n {
		return nil
	}
	return s.enough(fmt.Errorf("the %s data unpacks more than %d-fold, which no trace does", s.header.Compression, ratioLimit))
}

// enough ends the input here, for a reason: an error if no generation was read before.
func (s *Source) enough(why error) error {
	if s.index == 0 {
		return s.failAt("reading", why)
	}
	s.lose(0, s.last, why.Error()+"; what follows is left out")
	s.stop()
	return nil
}

// readError returns the error that ended the input early, or nil.
func (s *Source) readError() error {
	err := s.stream.broken()
	if err == nil {
		return nil
	}
	if s.header.Compression != "" {
		if s.in.err == nil || errors.Is(s.in.err, io.EOF) {
			if errors.Is(err, io.ErrUnexpectedEOF) {
				return fmt.Errorf("the %s data is truncated", s.header.Compression)
			}
			return fmt.Errorf("the %s data is damaged (%w)", s.header.Compression, err)
		}
		return s.in.err
	}
	return err
}

func (s *Source) fail(op string, err error) error {
	return fmt.Errorf("%s %s: %w", op, s.name, err)
}

func (s *Source) failAt(op string, err error) error {
	return fmt.Errorf("%s %s at offset %d: %w", op, s.name, s.off, err)
}
