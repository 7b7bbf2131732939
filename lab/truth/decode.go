package truth

import (
	"bytes"
	"encoding/json"
)

// A decoder reads lines fast: recordings have millions. It handles what truth
// and dumps normally hold, flat objects of integers, plain strings and
// booleans; anything else goes to encoding/json.
type decoder struct {
	words map[string]string // the few different strings, kept once
}

func newDecoder() *decoder { return &decoder{words: make(map[string]string)} }

func (d *decoder) line(b []byte) (Line, error) {
	l := newLine("")
	if d.flat(b, &l) {
		return l, nil
	}
	l = Line{}
	err := json.Unmarshal(b, &l)
	return l, err
}

// flat reports whether b was of the simple form; if not, l is undefined.
func (d *decoder) flat(b []byte, l *Line) bool {
	i := space(b, 0)
	if i >= len(b) || b[i] != '{' {
		return false
	}
	for i++; ; i++ {
		key, next, ok := plain(b, space(b, i))
		if !ok {
			return false
		}
		i = space(b, next)
		if i >= len(b) || b[i] != ':' {
			return false
		}
		i = space(b, i+1)
		if i >= len(b) {
			return false
		}
		switch c := b[i]; {
		case c == '"':
			v, next, ok := plain(b, i)
			if !ok {
				return false
			}
			d.text(l, key, v)
			i = next
		case c == '-' || '0' <= c && c <= '9':
			v, next, ok := integer(b, i)
			if !ok {
				return false
			}
			number(l, key, v)
			i = next
		case bytes.HasPrefix(b[i:], []byte("true")):
			truthValue(l, key, true)
			i += len("true")
		case bytes.HasPrefix(b[i:], []byte("false")):
			truthValue(l, key, false)
			i += len("false")
		default:
			return false
		}
		i = space(b, i)
		if i >= len(b) {
			return false
		}
		if b[i] == '}' {
			return space(b, i+1) == len(b)
		}
		if b[i] != ',' {
			return false
		}
	}
}

func (d *decoder) text(l *Line, key, v []byte) {
	w, ok := d.words[string(v)]
	if !ok {
		w = string(v)
		if len(d.words) < 4096 {
			d.words[w] = w
		}
	}
	switch string(key) {
	case "k":
		l.K = w
	case "src":
		l.Src = w
	case "to":
		l.To = w
	case "why":
		l.Why = w
	case "by":
		l.By = w
	case "basis":
		l.Basis = w
	}
}

func number(l *Line, key []byte, v int64) {
	switch string(key) {
	case "t":
		l.T = v
	case "g":
		l.G = v
	case "p":
		l.P = v
	case "m":
		l.M = v
	case "n":
		l.N = v
	case "victim":
		l.Victim = v
	case "batch":
		l.Batch = v
	case "ll":
		l.LL = v
	case "gl":
		l.GL = v
	case "tick":
		l.Tick = v
	}
}

func truthValue(l *Line, key []byte, v bool) {
	switch string(key) {
	case "locked":
		l.Locked = v
	case "started":
		l.Started = &v
	}
}

func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n') {
		i++
	}
	return i
}

// plain reads a string without escapes that starts at b[i].
func plain(b []byte, i int) (s []byte, next int, ok bool) {
	if i >= len(b) || b[i] != '"' {
		return nil, i, false
	}
	for j := i + 1; j < len(b); j++ {
		switch b[j] {
		case '"':
			return b[i+1 : j], j + 1, true
		case '\\':
			return nil, i, false
		}
	}
	return nil, i, false
}

func integer(b []byte, i int) (v int64, next int, ok bool) {
	neg := b[i] == '-'
	if neg {
		i++
	}
	first := i
	for ; i < len(b) && '0' <= b[i] && b[i] <= '9'; i++ {
		v = v*10 + int64(b[i]-'0')
	}
	if i == first || i-first > 18 || i < len(b) && (b[i] == '.' || b[i] == 'e' || b[i] == 'E') {
		return 0, i, false
	}
	if neg {
		v = -v
	}
	return v, i, true
}
