package findings

// Coming returns how many Ps have no thread and are not idle either: handoffp
// has started a thread for each, which has not got it yet.
func (w *World) Coming() int64 { return w.coming }
