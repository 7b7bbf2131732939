package input

import "errors"

// Errors about an input as a whole, for errors.Is.
var (
	ErrNotTrace    = errors.New("not a Go execution trace")
	ErrEmpty       = errors.New("there is no byte of a trace")
	ErrUnsupported = errors.New("trace of a format that cannot be read")
)

// fault is an error with a text of its own that is one of those above, too.
type fault struct {
	error
	kind error
}

func (f fault) Unwrap() []error { return []error{f.error, f.kind} }
