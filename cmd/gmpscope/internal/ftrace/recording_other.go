//go:build !linux

package ftrace

import (
	"errors"
	"io"
)

// Recording writes what the kernel records until Stop. Other systems than Linux have none.
type Recording struct{}

// Start fails: ftrace is part of Linux.
func Start(io.Writer, Options) (*Recording, error) {
	return nil, errors.New("the kernel's scheduler can be recorded on Linux only")
}

// Stop does nothing.
func (*Recording) Stop() (Stats, error) { return Stats{}, nil }

// RemoveInstances does nothing.
func RemoveInstances() {}
