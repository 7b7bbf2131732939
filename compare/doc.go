// Package compare answers: did scheduling get better, is it noise, and why? It
// holds the results of traces from before and after a change against each other.
//
//  1. [Compare] takes some results a side. How far they can be compared at all
//     (basis.go) comes first: the same work, the same load, or neither.
//  2. metrics.go names what is compared; each trace gives one number of each.
//     Single waits are no samples: those of one trace depend on one another.
//  3. test.go tells change from chance: traces are the samples. With too few of
//     them, windows.go compares windows of one trace a side, which is weaker and
//     says so.
//  4. account.go divides the change of all waiting among causes and classes, so
//     that the parts add up to it exactly; findings.go compares findings.
//  5. verdict.go says it in a sentence.
package compare
