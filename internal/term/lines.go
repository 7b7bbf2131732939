package term

import "io"

// Lines returns a writer of text to w. No line of it begins with "::", by which
// GitHub Actions knows a workflow command, such as ::add-mask:: or
// ::stop-commands::, in the output of a step: the second colon is written as
// <U+003A>.
func Lines(w io.Writer) io.Writer { return &lines{w: w, begins: true} }

type lines struct {
	w      io.Writer
	begins bool // no visible ASCII character came since the line began, but perhaps a colon
	colon  bool // it came
	buf    []byte
}

func (l *lines) Write(b []byte) (int, error) {
	l.buf = l.buf[:0]
	for _, c := range b {
		switch {
		case c == '\n':
			l.begins, l.colon = true, false
		case !l.begins || !l.colon && (c <= ' ' || c >= 0x7f): // which the service may take for space
		case c == ':' && l.colon:
			l.begins = false
			l.buf = append(l.buf, "<U+003A>"...)
			continue
		default:
			l.begins, l.colon = c == ':', true
		}
		l.buf = append(l.buf, c)
	}
	if _, err := l.w.Write(l.buf); err != nil {
		return 0, err
	}
	return len(b), nil
}
