package reconstruct

// Holding is how many there are of what takes memory; a damaged trace can name
// any number.
type Holding struct {
	Goroutines, Ps, Threads int // the most that were followed at one time
	Classes                 int
}

// Held returns what is held so far.
func (r *Reconstructor) Held() Holding {
	return Holding{Goroutines: int(r.gStates.Len()) - 1, Ps: len(r.pStates), Threads: len(r.mStates), Classes: int(r.classes.Len())}
}
