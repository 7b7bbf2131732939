// Package fleet answers: which of many traces, services and versions wait most, and why?
//
// A [Record] is the summary of one trace: sums of integers, histograms that add, the
// findings, the longest waits. It is bounded in size, and its key is the SHA-256 of the
// uncompressed trace. [Summarize] makes one, [Collect] those of many inputs, traces and
// files of summaries alike, with several workers, and keeps them on disk: memory does not
// grow with the number of traces.
//
// [Merge] of sets of records is their union by key. The same trace under two names or
// labels is one record with both. Merging is associative, commutative and idempotent, so
// that any order, sharding and repetition give the same set, and [Aggregate] the same report,
// byte by byte.
//
// A file of summaries (.sum) is gzip'd JSON Lines: a line that names the format, a line for
// each record, sorted by key, and a line with their number, without which the file is
// truncated.
//
// Like the steps of the analysis, the package is not stable yet: see package gmpscope.
package fleet
