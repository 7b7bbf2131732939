package jsondoc

// Unit is a line of dump --units: one object for each whole unit of work, in the order in
// which they are found.
type Unit struct {
	Class  string `json:"class"` // start function of its goroutine
	Kind   string `json:"kind"`  // handler, test function or annotation; else the class
	How    string `json:"how"`   // as in [UnitKind]
	G      int64  `json:"g"`     // goroutine
	FromNs int64  `json:"t0_ns"` // beginning, after the first event of the trace
	ToNs   int64  `json:"t1_ns"` // end
}
