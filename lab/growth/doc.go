// Package growth measures how the cost of an analysis grows with one thing at a time: it makes
// traces with the same number of events, of which each has more of that thing, and counts what
// gmpscope takes for each. What grows faster than its input is found before somebody has
// a trace of it.
package growth
