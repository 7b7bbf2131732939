// Package compare answers: did scheduling get better, is it noise, and why? It
// holds the results of traces from before and after a change against each other.
//
// [Compare] wants results of package analyze, five or more a side where it can: traces
// are the samples. Verdict of its [Result] is the answer in a word, Headline in a
// sentence, and Caveats what cannot be concluded; Metrics, Causes, Classes and Findings
// say what changed, by how much, and whether that may be chance. Times are in ns, on the
// [Basis] that the result names. Package report writes it as text and JSON, report/html
// as a page; package gmpscope says what is stable.
//
// # How it works
//
//  1. [Compare] takes some results a side. How far they can be compared at all
//     (basis.go) comes first: the same work, the same load, or neither.
//  2. metrics.go names what is compared; each trace gives one number of each.
//     Single waits are no samples: those of one trace depend on one another.
//     visible.go has those that come near to what users feel: how long the same work
//     took, how much got done, how long goroutines were held up. They decide;
//     queueing does only where they do not change.
//  3. test.go tells change from chance: traces are the samples. With too few of
//     them, windows.go compares windows of one trace a side, which is weaker and
//     says so.
//  4. account.go divides the change of all waiting among causes and classes, so
//     that the parts add up to it exactly; findings.go compares findings.
//  5. verdict.go says it in a sentence.
package compare
