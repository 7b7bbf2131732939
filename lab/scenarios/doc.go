// Package scenarios has the traces of testdata/traces: programs whose traces must show what
// their scenario says, and the manifest of the recordings.
//
// No two recordings are alike. A recording that does not show what it must,
// for instance because the machine was busy, is thrown away and made anew; of a
// few good ones the one is kept whose threads waited least for a CPU.
//
// In reading order:
//
//  1. scenarios.go: the table of scenarios: versions, GOMAXPROCS, what to show;
//  2. recording.go: a trace read into a flat list of events, and questions to it;
//  3. facts.go: per scenario, what must hold in any recording of it;
//  4. manifest.go: manifest.json and MANIFEST.md.
package scenarios
