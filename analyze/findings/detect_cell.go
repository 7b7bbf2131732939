package findings

// MaxKept is the limit of most a [Table]: it bounds memory, and what comes later is not shown.
const MaxKept = 1024

// Finding returns a finding about what a cell counts, at the time of its worst example.
func (c *Cell) Finding(s Severity, basis string) Finding {
	return Finding{Severity: s, CostNs: c.Ns, FromNs: c.From, ToNs: c.To, Basis: basis}
}
