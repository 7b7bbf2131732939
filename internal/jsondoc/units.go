package jsondoc

// Unit is a line of dump --units: an object a unit of work that was found whole, in the order
// in which they are found.
type Unit struct {
	Class  string `json:"class"` // start function of its goroutine
	Kind   string `json:"kind"`  // the handler or test function, or what is annotated; else the class
	How    string `json:"how"`   // how it was found, as in [UnitKind]
	G      int64  `json:"g"`     // goroutine
	FromNs int64  `json:"t0_ns"` // when it began, after the first event of the trace
	ToNs   int64  `json:"t1_ns"` // when it ended
}
