package analyze

import (
	"fmt"
	"path"
	"runtime"
	"strings"
)

// Bug is a panic: a mistake of ours, not of the trace's.
type Bug struct {
	Value any    // of the panic
	At    string // the innermost of our functions: name, file and line
}

func (b *Bug) Error() string {
	return fmt.Sprintf("internal error in %s: %v: please report it, with the trace if you can", b.At, b.Value)
}

// Caught makes a Bug of what the deferred function that calls it recovered.
func Caught(value any) *Bug {
	b := &Bug{Value: value, At: "an unknown place"}
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for panicked := false; ; {
		f, more := frames.Next()
		switch name, ours := strings.CutPrefix(f.Function, "github.com/gmpscope/gmpscope/"); {
		case f.Function == "runtime.gopanic":
			panicked = true // what was above it handles the panic
		case panicked && ours:
			b.At = fmt.Sprintf("%s (%s:%d)", name, path.Base(f.File), f.Line)
			return b
		}
		if !more {
			return b
		}
	}
}
