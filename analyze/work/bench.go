package work

// stopping processes a stop of the world by a goroutine: package testing stops it when it starts
// and stops a benchmark's timer.
func (a *Accumulator) stopping(l *life, f *facts, at mark) {
	switch {
	case f.traits&timerStarts != 0:
		l.benchStarts = true
	case f.traits&timerStops != 0 && l.bench.at > 0 && !a.places.isMain(a.classOf(l).name): // all benchmarks are one of main's
		a.found(a.kindOf(l, Benchmark, l.benchHandler), l.id, l.bench, at)
		l.bench = mark{}
	}
}

// started processes the end of a stop of the world.
func (a *Accumulator) started(l *life, at mark) {
	if l.benchStarts {
		l.bench, l.benchStarts, l.benchHandler = at, false, 0
	}
}
