// Package budget answers: is it within bounds? A budget is a text file with a rule a line,
// which is held against the JSON document of one or several analyses; docs/check.md has the
// rules.
//
//	waits.user.p99_ns                        <= 2ms
//	waits.user.total_ns                      <= baseline + 25%
//	classes[main.(*server).handle].waits.p99_ns <= 5ms
//	findings[convoy]                         <= warning
//
// A path with a key that no such document has is an error. Of several elements that a path
// chooses the worst counts, of several traces the median, and for findings the severity that
// at least half of them reach.
package budget
