// Package export answers: how does the analysis get into other tools? Each writer is a
// package of its own:
//
//   - [github.com/gmpscope/gmpscope/export/pprof]: where goroutines had stopped that
//     waited, as a profile for go tool pprof.
//   - [github.com/gmpscope/gmpscope/export/perfetto]: what ran where and when, for the
//     Perfetto UI.
//   - [github.com/gmpscope/gmpscope/export/parquet]: each wait, start and run interval as a
//     row, for databases.
//
// A writer is an [analyze.Observer]: it sees decisions and waits while the trace is read,
// and gets the [analyze.Result] in the end. This package has what they share.
package export
