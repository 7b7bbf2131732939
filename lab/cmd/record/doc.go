// Record re-records the traces of testdata/traces: it builds each scenario
// program for the Go versions wanted, runs it, holds the trace against what the
// scenario must show, and writes the gzipped trace and its manifest row.
//
//	go run ./internal/cmd/record                        all of them
//	go run ./internal/cmd/record -only uneven,forever   some scenarios
//	go run ./internal/cmd/record -go go1.25.0           other Go versions
//	go run ./internal/cmd/record -better                only where the new trace is less disturbed
//	go run ./internal/cmd/record -verify                record nothing, check what is there
//
// Other Go versions than the running one are fetched by the go command
// (GOTOOLCHAIN). A program is copied into a temporary module for its version,
// because the module of this repository asks for a newer Go.
//
// No two recordings are alike. A recording that does not show what it must,
// for instance because the machine was busy, is thrown away and made anew; of a
// few good ones the one is kept whose threads waited least for a CPU.
//
// In reading order:
//
//  1. main.go: flags, and what to do about each row of the manifest;
//  2. scenarios.go: the table of scenarios: versions, GOMAXPROCS, what to show;
//  3. make.go: building and running, by package runner, and choosing;
//  4. recording.go: a trace read into a flat list of events, and questions to it;
//  5. facts.go: per scenario, what must hold in any recording of it;
//  6. manifest.go: manifest.json and MANIFEST.md.
package main
