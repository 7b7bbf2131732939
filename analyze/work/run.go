package work

// run counts what a goroutine has done up to a mark as one unit. Its class loops without a home,
// and cannot be cut.
func (a *Accumulator) run(l *life, to mark) {
	if !l.unit.is {
		l.unit = open{is: true, from: mark{at: l.seen}}
	}
	a.emit(l, Run, &l.unit, to, 0)
}

// runProgram counts the program's one unit, where nothing begins from outside: from when main
// starts, or the trace begins, to its end.
func (a *Accumulator) runProgram() {
	for _, k := range a.kinds {
		if k.found && a.entry(k) {
			return
		}
	}
	k := kindKey{class: a.class(classKey{name: a.places.function("main.main")}), how: Run}
	g, handle := int64(1), int32(0)
	from, to := a.recordedSince, mark{at: a.now}
	for _, at := range a.bySlot {
		if l := a.lives.At(at); at != 0 && a.places.isMain(a.classOf(l).name) {
			k.class, g, handle, to = l.class, l.id, l.handle, a.mark(l)
			if l.born {
				from = max(from, l.seen)
			}
		}
	}
	if k.name = a.classes[k.class].name; to.at > from {
		a.found(a.sumOf(k), g, handle, mark{at: from}, to)
	}
}
