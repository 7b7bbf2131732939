package truth

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// none is the value of a number that does not apply to a line.
const none = -1

// A Line is one decision, in the vocabulary that gmpscope dump uses. Numbers
// that do not apply are −1 and absent from the JSON form.
type Line struct {
	T      int64  `json:"t"` // ns since the first event of the trace
	K      string `json:"k"`
	G      int64  `json:"g"`
	P      int64  `json:"p"`
	M      int64  `json:"m"`
	N      int64  `json:"n"` // for starts: how many starts of G came before, in the trace
	Src    string `json:"src"`
	Victim int64  `json:"victim"`
	Batch  int64  `json:"batch"`
	LL     int64  `json:"ll"`
	GL     int64  `json:"gl"`
	Tick   int64  `json:"tick"` // for starts: schedtick of P, this start included
	Locked bool   `json:"locked"`
	To     string `json:"to"`
	Why    string `json:"why"`
	// Also holds causes that were pending as well when a preemption happened.
	Also []string `json:"also"`
	By   string   `json:"by"` // who took the P, or who gave it away
	// Started reports whether a handoff found the P work at once.
	Started *bool `json:"started"`
	// Basis is how sure a dump is of the line. Truth has none.
	Basis string `json:"basis"`
}

// UnmarshalJSON reads a line; absent numbers become −1.
func (l *Line) UnmarshalJSON(b []byte) error {
	type plain Line
	p := plain(newLine(""))
	if err := json.Unmarshal(b, &p); err != nil {
		return err
	}
	*l = Line(p)
	return nil
}

// newLine returns a line without any number.
func newLine(k string) Line {
	return Line{K: k, G: none, P: none, M: none, N: none, Victim: none, Batch: none, LL: none, GL: none, Tick: none}
}

// AppendJSON appends the line as a JSON object.
func (l *Line) AppendJSON(b []byte) []byte {
	num := func(key string, v int64) {
		if v != none {
			b = append(b, ',', '"')
			b = append(b, key...)
			b = append(b, '"', ':')
			b = strconv.AppendInt(b, v, 10)
		}
	}
	str := func(key, v string) {
		if v != "" {
			b = append(b, ',', '"')
			b = append(b, key...)
			b = append(b, '"', ':')
			b = strconv.AppendQuote(b, v) // all our words are plain ASCII
		}
	}
	b = append(b, `{"t":`...)
	b = strconv.AppendInt(b, l.T, 10)
	str("k", l.K)
	num("g", l.G)
	num("p", l.P)
	num("m", l.M)
	num("n", l.N)
	str("src", l.Src)
	num("victim", l.Victim)
	num("batch", l.Batch)
	if l.Locked {
		b = append(b, `,"locked":true`...)
	}
	str("to", l.To)
	str("why", l.Why)
	if len(l.Also) > 0 {
		b = append(b, `,"also":[`...)
		for i, a := range l.Also {
			if i > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendQuote(b, a)
		}
		b = append(b, ']')
	}
	str("by", l.By)
	if l.Started != nil {
		b = append(b, `,"started":`...)
		b = strconv.AppendBool(b, *l.Started)
	}
	num("ll", l.LL)
	num("gl", l.GL)
	num("tick", l.Tick)
	return append(b, '}')
}

// WriteLines writes JSON Lines.
func WriteLines(w io.Writer, lines []Line) error {
	bw := bufio.NewWriter(w)
	var b []byte
	for i := range lines {
		b = append(lines[i].AppendJSON(b[:0]), '\n')
		if _, err := bw.Write(b); err != nil {
			return err
		}
	}
	return bw.Flush()
}

// ReadLines reads JSON Lines. Empty lines are passed over.
func ReadLines(r io.Reader) ([]Line, error) {
	sc := bufio.NewScanner(r)
	sc.Buffer(make([]byte, 1<<16), 1<<24)
	var out []Line
	d := newDecoder()
	for n := 1; sc.Scan(); n++ {
		if len(bytes.TrimSpace(sc.Bytes())) == 0 {
			continue
		}
		l, err := d.line(sc.Bytes())
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		out = append(out, l)
	}
	return out, sc.Err()
}

// compactEnding is that of the names of files in the compact form.
const compactEnding = ".truth.zst"

// ReadLinesFile is ReadLines on a named file.
func ReadLinesFile(name string) ([]Line, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	read := ReadLines
	if strings.HasSuffix(name, compactEnding) {
		read = ReadCompact
	}
	lines, err := read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return lines, nil
}
