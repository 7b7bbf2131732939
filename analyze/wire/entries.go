package wire

// Entries counts the found, damaged and missing entries of a table of a damaged trace.
type Entries struct {
	Found   int // entries that are there, damaged or not
	Damaged int // those of them that cannot be read
	Missing int // entries that something refers to and that are not there, or damaged

	missing map[uint64]struct{}
}

// maxMissing bounds the entries that are counted as missing.
const maxMissing = 1 << 16

// Miss records a reference to a missing entry.
func (e *Entries) Miss(id uint64) {
	if e.missing == nil {
		e.missing = map[uint64]struct{}{}
	}
	if len(e.missing) < maxMissing {
		e.missing[id] = struct{}{}
		e.Missing = len(e.missing)
	}
}

// Whole reports whether no entry is damaged or missing.
func (e *Entries) Whole() bool { return e.Damaged+e.Missing == 0 }
