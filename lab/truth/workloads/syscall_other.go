//go:build !linux

package main

import "errors"

// The recorder runs on Linux only; elsewhere the program merely has to build.

func pipe(*[2]int) error { return errors.New("not on this system") }

func readFD(int, []byte) int { return 0 }

func writeFD(int, []byte) {}

func closeFD(int) {}
