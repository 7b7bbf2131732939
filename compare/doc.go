// Package compare answers: did it get better for those who use the program, is it noise, and
// why? It holds the results of traces from before and after a change against each other.
//
// [Compare] wants results of package analyze, four or more a side where it can, recorded in
// turns: traces are the samples. Verdict of its [Result] is the answer in a word, Headline in a
// sentence, and Caveats what cannot be concluded; Work, Metrics, Causes, Classes and Findings
// say what changed, by how much, and whether that may be chance. Times are in ns; those of waiting
// are on the [Basis] that the result names. Package report writes it as text and JSON, report/html
// as a page; package gmpscope says what is stable.
//
// # How it works
//
//  1. units.go has throughput and latency of units of work by kind, which match.go pairs
//     by name, and the rounds of goroutines that loop for as long as they are recorded;
//     metrics.go has how long the same work took, and for which share of their time
//     goroutines were held up. The former decide, the latter where they do not change.
//  2. host.go finds what of the machine differs, and for how much that may account.
//  3. estimate.go tells change from chance: units within traces, traces within a
//     side, whose variance is moderated by what recordings of other programs differ
//     by (variance.go, variances.json). With one trace a side there is nothing else.
//  4. why.go finds the part of a unit's time that accounts for a change; account.go
//     divides the change of all waiting for a P among causes and classes, so that the parts
//     add up to it exactly; findings.go compares findings.
//  5. verdict.go puts it in a sentence.
package compare
