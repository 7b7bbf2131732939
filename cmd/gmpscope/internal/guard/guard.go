// Package guard gives a program that runs out of memory an exit code and a line
// of its own.
//
// The Go runtime ends such a program with exit code 2, which is that of a wrong
// command line, and hundreds of lines. It may lack the memory for the heap, for the tables of
// the heap or for a thread, and nothing in the program can recover from that, nor
// foresee it: one allocation is enough. So where something limits its memory, the
// work is done by a child, and the parent tells what became of it. That costs one
// more start of the program; where nothing limits memory, there is no child.
package guard

import "os"

// Work is what a program does. It is told of signals by the channel, and writes
// messages to stderr. What it returns is the exit code.
type Work func(signals <-chan os.Signal, stderr *os.File) int
