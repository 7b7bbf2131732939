// Package guard gives a program that runs out of memory an exit code and a line
// of its own.
//
// The Go runtime ends such a program with exit code 2, which is that of a wrong
// command line, and hundreds of lines, and nothing in the program can foresee that. So where
// something limits its memory, the work is done by a child, and the parent tells what became
// of it.
package guard

import "os"

// Work is what a program does. It is told of signals by the channel, and writes
// messages to stderr. What it returns is the exit code.
type Work func(signals <-chan os.Signal, stderr *os.File) int
