package input

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/wire"
)

const (
	headerSize = 16  // "go 1.NN trace" and NULs
	sniffSize  = 512 // enough to tell what a file is that is no trace

	shownHead = 8 // bytes of such a file that the error quotes

	headerStart = "go 1."

	newestGo = "1.27" // it writes format 1.26
)

const howToRecord = `record one with "go test -trace" or runtime/trace`

// parseFileHeader returns NN of "go 1.NN trace" at the start of p, which holds the first sniffSize
// bytes of the input, fewer if there are no more.
func parseFileHeader(p []byte, compression string) (int, error) {
	if len(p) == 0 {
		if compression != "" {
			return 0, fault{fmt.Errorf("no trace in the %s data: it unpacks to 0 bytes", compression), ErrEmpty}
		}
		return 0, fault{errors.New("the file is empty (0 bytes): was the recording stopped with trace.Stop?"), ErrEmpty}
	}
	text, isTrace := bytes.CutPrefix(p[:min(len(p), headerSize)], []byte(headerStart))
	if !isTrace {
		if len(p) < headerSize && bytes.HasPrefix([]byte(headerStart), p) {
			return 0, truncatedHeader(p)
		}
		return 0, fault{notATrace(p), ErrNotTrace}
	}
	minor, n := 0, 0
	for n < len(text) && n < 3 && '0' <= text[n] && text[n] <= '9' {
		minor = minor*10 + int(text[n]-'0')
		n++
	}
	rest := "\x00\x00\x00\x00\x00\x00"
	rest = (" trace" + rest)[:headerSize-len(headerStart)-n]
	switch tail := string(text[n:]); {
	case n == 0 && len(text) > 0, n > 0 && text[0] == '0', !strings.HasPrefix(rest, tail):
		return 0, fault{notATrace(p), ErrNotTrace}
	case len(p) < headerSize:
		return 0, truncatedHeader(p)
	}
	switch minor {
	case 11, 19, 21, 22, 23, 25, 26:
		return minor, nil
	}
	switch {
	case minor < 11:
		return 0, fault{fmt.Errorf("trace of format go 1.%d: gmpscope reads traces of Go 1.11 to %s; record it with a newer Go", minor, newestGo), ErrUnsupported}
	case minor > 26:
		return 0, fault{fmt.Errorf("trace of format go 1.%d: gmpscope reads traces of Go 1.11 to %s; look for a newer gmpscope", minor, newestGo), ErrUnsupported}
	}
	return 0, fault{fmt.Errorf("trace of format go 1.%d, which no Go release writes: the header is damaged", minor), ErrUnsupported}
}

func truncatedHeader(p []byte) error {
	return fmt.Errorf("the trace is truncated: only %d of the %d bytes of its header are there", len(p), headerSize)
}

// mistakes are what people hand over instead of a trace, by how it starts.
var mistakes = []struct{ prefix, advice string }{
	{"\x1f\x8b", "it is gzip data within compressed data: unpack it once"},
	{"\x28\xb5\x2f\xfd", "it is zstd data within compressed data: unpack it once"},
	{"BZh", "it is bzip2 data: unpack it first"},
	{"\xfd7zXZ\x00", "it is xz data: unpack it first"},
	{"goroutine profile:", "it is a pprof profile as text: fetch /debug/pprof/trace instead"},
	{"heap profile:", "it is a pprof profile as text: fetch /debug/pprof/trace instead"},
	{"threadcreate profile:", "it is a pprof profile as text: fetch /debug/pprof/trace instead"},
	{"--- mutex:", "it is a pprof profile as text: fetch /debug/pprof/trace instead"},
	{"--- contention:", "it is a pprof profile as text: fetch /debug/pprof/trace instead"},
	{"Trace Go1.", `it is a trace as text, as "go tool trace -d" prints it: give the trace file itself`},
	{"goos: ", `it is the output of "go test": give the file named by -trace`},
	{"\x7fELF", "it is a program: run it with tracing on and give the trace file"},
}

// notATrace reports what a file is that has no trace header, and what to do.
func notATrace(p []byte) error {
	if isProfile(p) {
		return fmt.Errorf(`not a Go execution trace but a pprof profile: look at it with "go tool pprof"; for a trace, %s, or fetch /debug/pprof/trace`, howToRecord)
	}
	low := strings.ToLower(strings.TrimLeft(string(p), " \t\r\n\ufeff"))
	if strings.HasPrefix(low, "<!doctype html") || strings.HasPrefix(low, "<html") {
		return errors.New("not a Go execution trace but an HTML page: for a URL, give that of the trace itself, such as http://host/debug/pprof/trace?seconds=5, and check whether it asks for a login")
	}
	for _, m := range mistakes {
		if strings.HasPrefix(string(p), m.prefix) {
			return fmt.Errorf("not a Go execution trace: %s", m.advice)
		}
	}
	return fmt.Errorf("not a Go execution trace (it starts with %q): %s", p[:min(len(p), shownHead)], howToRecord)
}

// isProfile recognises an uncompressed pprof profile: field 1 of the protocol buffer, a message of
// two numbers (sample_type with its type and unit), comes first.
func isProfile(p []byte) bool {
	if len(p) < 4 || p[0] != 0x0a {
		return false
	}
	n := int(p[1])
	if n < 2 || n > 12 || len(p) < 2+n {
		return false
	}
	m := p[2 : 2+n]
	for field := byte(1); len(m) > 0 && field <= 2; field++ {
		if m[0] != field<<3 {
			return false
		}
		_, k := wire.Uvarint(m[1:])
		if k <= 0 {
			return false
		}
		m = m[1+k:]
	}
	return len(m) == 0
}
