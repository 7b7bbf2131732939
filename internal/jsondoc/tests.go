package jsondoc

// Tests is the output of gmpscope test --format json.
type Tests struct {
	Tool     string        `json:"tool"`      // gmpscope and its version
	ExitCode int           `json:"exit_code"` // of go test
	Packages []TestPackage `json:"packages"`  // in the order in which they began
}

// TestPackage is a tested package.
type TestPackage struct {
	Package    string      `json:"package"`              // import path
	Failed     bool        `json:"failed"`               // by go test
	Traces     []string    `json:"traces,omitempty"`     // files, with -o
	Problem    string      `json:"problem,omitempty"`    // why nothing is known of its tests
	Tests      []Test      `json:"tests"`                // failed ones, then slow ones
	Benchmarks []Benchmark `json:"benchmarks,omitempty"` // in the order of go test
}

// Test is a run of a test.
type Test struct {
	Name    string `json:"name"`    // with those of its parents
	Run     int    `json:"run"`     // index among the runs of this name
	Outcome string `json:"outcome"` // "fail", "pass", "skip" or "ended the process"
	Ns      int64  `json:"ns"`      // duration
	// Verdict is what a failed test lacked: "starved-by-machine" (CPUs),
	// "starved-by-program" (Ps that other goroutines had, or CPUs that its own threads had),
	// "not-scheduling", or "unknown"; that it failed for lack of these is inferred.
	Verdict string       `json:"verdict,omitempty"`
	Basis   string       `json:"basis,omitempty"`   // "certain" (the kernel counted it, or the trace shows it) or "suspected"
	Why     string       `json:"why,omitempty"`     // the verdict in words
	Wait    *TestWait    `json:"wait,omitempty"`    // of its goroutine that waited longest for a P
	Machine *TestMachine `json:"machine,omitempty"` // absent if unknown
	Path    []TestPart   `json:"path"`              // parts of its time, most first; empty if not in the trace
}

// TestWait is the time that a goroutine of a test was runnable.
type TestWait struct {
	G         int64  `json:"goroutine"`  // its ID
	Who       string `json:"who"`        // class
	Ns        int64  `json:"ns"`         // sum
	LongestNs int64  `json:"longest_ns"` // longest wait
	MachineNs int64  `json:"machine_ns"` // part of Ns while a P was idle or its thread late
}

// TestMachine is what the kernel counted for a test's process while the test ran.
type TestMachine struct {
	CPUNs       int64 `json:"cpu_ns"`       // CPU time of all threads
	DelayNs     int64 `json:"delay_ns"`     // time that threads were ready but had no CPU, summed
	LongestNs   int64 `json:"longest_ns"`   // longest such time, approximately
	ThrottledNs int64 `json:"throttled_ns"` // throttled by the CPU quota
	StoppedNs   int64 `json:"stopped_ns"`   // stopped by a signal
}

// TestPart is a part of the time of a test or benchmark.
type TestPart struct {
	Via      string `json:"via,omitempty"`       // what its own goroutine waited for; absent if it did not
	ViaWhere string `json:"via_where,omitempty"` // function of that wait
	What     string `json:"what"`                // what was done meanwhile, as in [Leaf]
	Who      string `json:"who,omitempty"`       // class of the goroutine that did it
	Where    string `json:"where,omitempty"`     // function
	Ns       int64  `json:"ns"`                  // duration
}

// Benchmark is a benchmark with one number of Ps.
type Benchmark struct {
	Name       string     `json:"name"`        // as go test prints it, with the number of Ps
	N          int64      `json:"n"`           // iterations
	NsPerOp    float64    `json:"ns_per_op"`   // as go test prints it
	TimedNs    int64      `json:"timed_ns"`    // duration of the run with that result; 0 if not in the trace
	RunningNs  int64      `json:"running_ns"`  // running time of goroutines in that run, summed
	RunnableNs int64      `json:"runnable_ns"` // runnable time of goroutines in that run, summed
	Path       []TestPart `json:"path"`        // parts of all such runs, for all numbers of Ps, most first
}
