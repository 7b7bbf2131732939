package wire

// Entries counts what is wrong with a table of a damaged trace.
type Entries struct {
	Found   int // entries that are there, damaged or not
	Damaged int
	Missing int // entries that something refers to and that are not there, or damaged

	missing map[uint64]struct{}
}

// maxMissing bounds the entries that are counted as missing.
const maxMissing = 1 << 16

// Miss notes that something refers to an entry that is not there.
func (e *Entries) Miss(id uint64) {
	if e.missing == nil {
		e.missing = map[uint64]struct{}{}
	}
	if len(e.missing) < maxMissing {
		e.missing[id] = struct{}{}
		e.Missing = len(e.missing)
	}
}

// Whole reports whether nothing is wrong.
func (e *Entries) Whole() bool { return e.Damaged+e.Missing == 0 }
