package reconstruct

// Held returns the most goroutines, and how many Ps and threads, that were
// followed at one time: each takes memory, and a damaged trace can name any
// number.
func (r *Reconstructor) Held() (goroutines, ps, threads int) {
	return int(r.gs.Len()) - 1, len(r.ps), len(r.ms)
}
