package findings

// MaxKept is the number of values that detectors keep in a [Table], where they have no other limit:
// it bounds memory, and keys that come later are left out.
const MaxKept = 1024

// Each returns the findings that judge makes of the elements of a list, in its order.
func Each[T any](f *Facts, list []T, judge func(*Facts, T) []Finding) (out []Finding) {
	for _, x := range list {
		out = append(out, judge(f, x)...)
	}
	return out
}

// Finding returns a finding with severity s and a basis, [Certain], [Inferred] or [Suspected], whose
// cost is the sum of the cell, c.Ns, and whose window is that of its longest wait, [c.From, c.To). The
// caller adds actors and texts.
func (c *Cell) Finding(s Severity, basis string) Finding {
	return Finding{Severity: s, CostNs: c.Ns, FromNs: c.From, ToNs: c.To, Basis: basis}
}
