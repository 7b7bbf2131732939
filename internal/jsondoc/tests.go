package jsondoc

// Tests is what gmpscope test writes with --format json.
type Tests struct {
	Tool     string        `json:"tool"`      // gmpscope and its version
	ExitCode int           `json:"exit_code"` // of go test
	Packages []TestPackage `json:"packages"`  // those that were tested, in the order in which they began
}

// TestPackage is a package that was tested.
type TestPackage struct {
	Package    string      `json:"package"`              // import path
	Failed     bool        `json:"failed"`               // by go test
	Traces     []string    `json:"traces,omitempty"`     // their files, with -o
	Problem    string      `json:"problem,omitempty"`    // why nothing is known of its tests
	Tests      []Test      `json:"tests"`                // that failed, then those that were slow
	Benchmarks []Benchmark `json:"benchmarks,omitempty"` // in the order of go test
}

// Test is a run of a test.
type Test struct {
	Name    string `json:"name"`    // with those around it
	Run     int    `json:"run"`     // how many of its name were before it
	Outcome string `json:"outcome"` // "fail", "pass", "skip" or "ended the process"
	Ns      int64  `json:"ns"`      // how long it took
	// Verdict is what a test that failed lacked: "starved-by-machine" (CPUs), "starved-by-program"
	// (Ps that other goroutines had, or CPUs that its own threads had), "not-scheduling", or
	// "unknown". That it failed for want of them is inferred.
	Verdict string `json:"verdict,omitempty"`
	// Basis is how well it is known what it lacked: "certain" (the kernel counted it, or the trace shows it) or
	// "suspected".
	Basis   string       `json:"basis,omitempty"`
	Why     string       `json:"why,omitempty"`     // the verdict, in words
	Wait    *TestWait    `json:"wait,omitempty"`    // of its goroutine that waited for a P longest
	Machine *TestMachine `json:"machine,omitempty"` // what the kernel counted meanwhile, of its process; absent if that is not known
	Path    []TestPart   `json:"path"`              // what its time consists of, the most first; empty if the trace does not have it
}

// TestWait is for how long a goroutine of a test was runnable, and did not run.
type TestWait struct {
	G         int64  `json:"goroutine"`  // its number
	Who       string `json:"who"`        // its class
	Ns        int64  `json:"ns"`         // summed
	LongestNs int64  `json:"longest_ns"` // at one time
	MachineNs int64  `json:"machine_ns"` // of it, while a P was idle or its thread late
}

// TestMachine is what the kernel counted of a test's process while the test ran.
type TestMachine struct {
	CPUNs       int64 `json:"cpu_ns"`       // on a CPU, of all threads
	DelayNs     int64 `json:"delay_ns"`     // for which threads could have run and had no CPU, summed
	LongestNs   int64 `json:"longest_ns"`   // the longest of it at one time, about
	ThrottledNs int64 `json:"throttled_ns"` // for which the CPU quota kept threads from running
	StoppedNs   int64 `json:"stopped_ns"`   // for which the process was stopped by a signal
}

// TestPart is a part of the time of a test or benchmark.
type TestPart struct {
	Via      string `json:"via,omitempty"`       // what its own goroutine waited for; absent if it did not
	ViaWhere string `json:"via_where,omitempty"` // function, of that
	What     string `json:"what"`                // what was done meanwhile, as in [Leaf]
	Who      string `json:"who,omitempty"`       // class of the goroutine that did it
	Where    string `json:"where,omitempty"`     // function
	Ns       int64  `json:"ns"`                  // for how long
}

// Benchmark is a benchmark with one number of Ps.
type Benchmark struct {
	Name       string     `json:"name"`        // as go test prints it, with the number of Ps
	N          int64      `json:"n"`           // iterations
	NsPerOp    float64    `json:"ns_per_op"`   // as go test prints it
	TimedNs    int64      `json:"timed_ns"`    // how long the run took whose result that is; 0 if the trace does not have it
	RunningNs  int64      `json:"running_ns"`  // for how long goroutines ran in that run, summed
	RunnableNs int64      `json:"runnable_ns"` // for how long they were runnable, summed
	Path       []TestPart `json:"path"`        // what all such runs of it consist of, whatever the number of Ps, the most first
}
