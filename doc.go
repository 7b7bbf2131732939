// Package gmpscope is the front page of a module that reads Go execution traces
// (runtime/trace), reconstructs what the scheduler did, and says where goroutines lost
// time waiting to run, and why. The command is in cmd/gmpscope; this page is about
// using the analysis in a program. It holds no code.
//
// # The packages
//
//   - [github.com/gmpscope/gmpscope/analyze]: a trace to a result. [analyze.File] and
//     [analyze.Reader] are the way in.
//   - [github.com/gmpscope/gmpscope/compare]: results from before a change and after it;
//     compare/budget holds a result against bounds.
//   - [github.com/gmpscope/gmpscope/replay]: what the scheduler would do with the same
//     work, now or otherwise.
//   - [github.com/gmpscope/gmpscope/report]: a result as text or JSON; report/html as a
//     page.
//   - [github.com/gmpscope/gmpscope/export]: a result, and all that it sums up, for other
//     tools: pprof, Perfetto, databases.
//   - [github.com/gmpscope/gmpscope/fleet]: many traces, each summed up, and all together.
//   - [github.com/gmpscope/gmpscope/reference]: the words of the scheduler, a record of
//     what it decided, and its rules in each version of Go.
//   - github.com/gmpscope/gmpscope/capture, a module of its own without dependencies, has
//     a program record itself; github.com/gmpscope/gmpscope/live, another, has it show the
//     analysis of its last seconds.
//
// The example analyses a file, prints the findings with the class of goroutines that
// suffers, and writes the report.
//
// # What is stable
//
// The module follows semantic versioning. No version v1 is out: until then a minor
// version may change what is listed here, and its notes say so; a patch version may not.
// From v1.0.0 on, these change only with the major version:
//
//   - the exported names of analyze, compare, compare/budget, replay, report, report/html
//     and reference;
//   - of analyze/input, Open with its Options, and Source with Header, Name and Close;
//   - of analyze/kernel, New, Reader with Close, and ReadCgroupStat;
//   - the types that those name, in whichever package they are, with their fields and
//     JSON keys: the results in analyze/waits, stacks, procs, fairness, breakdown, work,
//     timeline and findings, focus.Focus, and the policies of reference/sim;
//   - the IDs of detectors, and the words (causes, sources, …) that there are. New ones may
//     come at any time;
//   - the JSON documents by a number of their own, report.Schema, now 3: it rises
//     when a key changes its meaning or type, or goes away. New keys may come at any time.
//     docs/json.md and docs/schema describe them.
//
// Fields may be added to any struct, so write composite literals with the names of
// fields. Numbers and texts are no part of the promise: a better reconstruction, or a
// better detector, may judge a trace differently in any version.
//
// Not stable are the steps of the analysis, which are packages so that each can be read
// and tested by itself: analyze/events, analyze/reconstruct, analyze/wire, analyze/ids,
// analyze/histogram, analyze/span, the accumulators and detectors of analyze/waits,
// stacks, procs, fairness, breakdown, work, timeline, focus and findings,
// analyze/diagnosis, replay/workload, and Queues in reference; nor are analyze.Observer, which sees the
// blocks of analyze/ledger, fleet, and the packages of export.
package gmpscope
