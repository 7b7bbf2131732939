package ids

// Parts is an array of T that grows in parts, without copying, so that pointers to its
// elements stay valid. Elements are numbered from 0. The zero value is ready.
type Parts[T any] struct {
	first *[partLen]T // parts[0]
	parts []*[partLen]T
}

const (
	partBits = 8
	partLen  = 1 << partBits
)

// At returns the element with a number for which [Parts.Make] was called. The pointer
// stays valid.
func (p *Parts[T]) At(i int32) *T {
	if uint32(i) < partLen { // most tables have no other part
		return &p.first[i]
	}
	return &p.parts[uint32(i)>>partBits][uint32(i)%partLen]
}

// Make returns the element with any non-negative number, and creates zero elements as
// needed.
func (p *Parts[T]) Make(i int32) *T {
	part := int(i >> partBits)
	for part >= len(p.parts) {
		p.parts = append(p.parts, nil)
	}
	if p.parts[part] == nil {
		p.parts[part] = new([partLen]T)
		clear(p.parts[part][:]) // OPT: see Index.grow
		p.first = p.parts[0]
	}
	return p.At(i)
}

// Grow creates the elements with all numbers below n, as [Parts.Make] does.
func (p *Parts[T]) Grow(n int32) {
	for i := int32(len(p.parts)) << partBits; i < n; i += partLen {
		p.Make(i)
	}
}

// Find returns the element with a number, as [Parts.At] does, or nil if nothing was made near
// that number.
func (p *Parts[T]) Find(i int32) *T {
	if part := int(i >> partBits); part >= len(p.parts) || p.parts[part] == nil {
		return nil
	}
	return p.At(i)
}

// copyFrom makes p equal to q, in memory of its own.
func (p *Parts[T]) copyFrom(q *Parts[T]) {
	for i, part := range q.parts {
		if part != nil {
			p.Make(int32(i) << partBits)
			*p.parts[i] = *part
		}
	}
}
