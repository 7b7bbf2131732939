package work

// benchRun is the last run of a benchmark that has ended. Only the next one shows whether it
// was to find out how often the benchmark is to be run. There is one at a time: package testing
// lets no two benchmarks run together.
type benchRun struct {
	is             bool // there is one, in which the benchmark marked nothing
	g              int64
	handle         int32 // of the class, in decisions
	from, to       mark
	class, handler int32
	procs          int32 // GOMAXPROCS
}

// stopping processes a stop of the world by a goroutine: package testing stops it when it starts
// and stops a benchmark's timer.
func (a *Accumulator) stopping(l *life, f *facts, at mark) {
	switch {
	case f.traits&timerStarts != 0:
		l.benchStarts = true
	case f.traits&timerStops != 0 && l.bench.at > 0 && !a.places.isMain(a.classOf(l).name): // all benchmarks are one of main's
		a.lastRun = benchRun{l.annotated < l.bench.at, l.id, l.handle, l.bench, at, l.class, l.benchHandler, a.procs}
		l.bench = mark{}
	}
}

// started processes the end of a stop of the world.
func (a *Accumulator) started(l *life, at mark) {
	if l.benchStarts {
		// One goroutine runs the benchmark once, then another for as long as it is to run.
		a.endRun(a.places.functions[a.classOf(l).name] == "testing.(*B).launch")
		l.bench, l.benchStarts, l.benchHandler = at, false, 0
	}
}

// endRun counts the last run of a benchmark.
func (a *Accumulator) endRun(calibration bool) {
	r := a.lastRun
	if a.lastRun = (benchRun{}); !r.is {
		return
	}
	how := Benchmark
	if calibration {
		how = Calibration
	}
	k := a.kindOf(r.class, how, r.handler)
	k.procs = r.procs
	a.found(a.sumOf(k), r.g, r.handle, r.from, r.to)
}
