// Package budget answers: is it within bounds? A budget is a text file with a
// rule a line, which is held against the JSON document of one or several
// analyses.
//
//	# what the handlers may cost
//	waits.user.p99_ns                        <= 2ms
//	pressure.some                            <= 40%
//	classes[main.(*server).handle].waits.p99_ns <= 5ms
//	waits.user.total_ns                      <= baseline + 25%
//	findings                                 <= note
//	findings[convoy]                         <= warning
//
// The left side is a path into the document that `analyze --format json` writes
// (docs/json.md); with a key that no such document has it is an error. An element
// of a list is chosen by its name, cause, id or p in brackets, where * stands for
// any letters; of several the worst counts. The right side is a number, perhaps with a unit (ns, us, µs, ms, s, m, %), or
// baseline, perhaps times or plus something: baseline * 1.2, baseline + 25%,
// baseline + 2ms. For findings it is a severity: ok, note, warning, critical.
//
// Of several traces the median counts, and for findings the severity that at
// least half of them reach.
package budget
