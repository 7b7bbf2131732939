package analyze

import (
	"errors"
	"fmt"
	"path"
	"runtime"
	"strings"

	"github.com/gmpscope/gmpscope/analyze/input"
	"github.com/gmpscope/gmpscope/reference"
)

// Bug is the error of a panic in gmpscope or in a callback: never the fault of the trace.
type Bug struct {
	Value any    // with which it panicked
	At    string // innermost function of gmpscope on the stack: name, file and line
	// Callback is the option whose function panicked, such as OnDecision; empty if none did.
	Callback string
}

// Error returns a message that says where the panic was and, unless a callback panicked, asks for a
// report.
func (b *Bug) Error() string {
	if b.Callback != "" {
		return fmt.Sprintf("the function in Options.%s panicked: %v", b.Callback, b.Value)
	}
	return fmt.Sprintf("internal error in %s: %v: please report it, with the trace if you can", b.At, b.Value)
}

// blame has panics of the caller's functions told from ours.
func (o *Options) blame() {
	blame := func(callback string) {
		if v := recover(); v != nil {
			b := Caught(v)
			b.Callback = callback
			panic(b)
		}
	}
	if on := o.OnDecision; on != nil {
		o.OnDecision = func(d *reference.Decision) error {
			defer blame("OnDecision")
			return on(d)
		}
	}
	if on := o.OnEvents; on != nil {
		o.OnEvents = func(n int) {
			defer blame("OnEvents")
			on(n)
		}
	}
}

// catch is deferred. It turns a panic into an error, and names the trace in a Bug.
func catch(src *input.Source, err *error) {
	if v := recover(); v != nil {
		*err = Caught(v)
	}
	if bug := (*Bug)(nil); errors.As(*err, &bug) {
		*err = fmt.Errorf("analysing %s: %w", src.Name(), bug)
	}
}

// Caught turns the value that a deferred function got from recover into a Bug. It must be called
// before that function returns, since Bug.At is read off the stack. A value that is a *Bug is returned
// as it is.
func Caught(value any) *Bug {
	if b, ok := value.(*Bug); ok { // caught before
		return b
	}
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
