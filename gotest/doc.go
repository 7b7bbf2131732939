// Package gotest runs go test with an execution trace for each package, and answers: what did the
// tests that failed, or were slow, wait for? Was it the machine, the program, or nothing that
// scheduling has to do with?
//
// go test runs each test binary by [Exec], which has the testing package write a trace, and
// counts meanwhile for how long the kernel kept the binary's threads waiting for a CPU
// (Linux: /proc/PID/task/TID/schedstat). go test -json tells which test ran when, and how it
// ended. The trace of a package is analysed when all have run, so that this does not disturb
// tests.
//
// judge.go has the rules by which a failed test is called starved.
package gotest
