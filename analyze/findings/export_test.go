package findings

// World returns the one that s keeps.
func (s *Set) World() *World { return s.world }

// Coming returns how many Ps have no thread and are not idle either: handoffp
// has started a thread for each, which has not got it yet.
func (w *World) Coming() int64 { return w.coming }
