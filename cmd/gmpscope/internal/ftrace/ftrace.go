// Package ftrace records which thread has which CPU, and who wakes whom, as the Linux
// scheduler tells it through tracefs (Documentation/trace/ftrace.rst in the kernel).
//
// A recording is an instance of its own below tracefs, called gmpscope-PID. It is removed when
// the recording ends; what a killed program left behind is removed before the next one begins.
//
// What is recorded are all switches, and all wake-ups, of the CPUs that the process may
// run on, whoever they are about: with those of the process alone (set_event_pid), which take
// a twentieth to three fifths of the room, it is not known who had the CPU instead for most of
// the time in which its threads could have run and did not.
package ftrace

import "errors"

// Options select the process and the largest size of a [Recording].
type Options struct {
	// PID is the process on whose CPUs the recording is made. 0 means this process, and
	// what it starts.
	PID int
	// MaxBytes is how much is written at most, in bytes and in whole lines: the recording ends
	// there by itself. 0 means without a limit.
	MaxBytes int64
}

// Stats reports what came of a recording.
type Stats struct {
	Bytes int64 // written, before any compression
	Lost  int64 // events that the kernel had no room for; marks in the text say where
	Full  bool  // it ended at Options.MaxBytes
	Left  error // why the instance could not be removed; nil if it was
}

// ErrNoProcess means that there is no process with the number in Options.PID.
var ErrNoProcess = errors.New("there is no such process")

// howElse ends the errors of those who may not record, or cannot.
const howElse = `or record with perf, as "gmpscope record --help" says`
