package reconstruct

// find returns the index of a goroutine, which it adds if it is new.
func (t *goroutines) find(id int64) int32 {
	if g := t.Find(id); g != 0 {
		return g
	}
	return t.add(id)
}
