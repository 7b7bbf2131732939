package wire

import "fmt"

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

// Say tells what is wrong, with the words for an entry and for several.
func (e *Entries) Say(one, many string) string {
	missing := e.Missing - e.Damaged // those of the damaged ones are among them
	switch {
	case e.Found == 0:
		return "its " + many + " are missing"
	case e.Damaged == 0 && missing == 1:
		return fmt.Sprintf("1 %s is missing beside %d that are there", one, e.Found)
	case e.Damaged == 0:
		return fmt.Sprintf("%d %s are missing beside %d that are there", missing, many, e.Found)
	}
	s := fmt.Sprintf("%d of %d %s are damaged", e.Damaged, e.Found, many)
	if e.Damaged == 1 {
		s = fmt.Sprintf("1 of %d %s is damaged", e.Found, many)
	}
	if missing > 0 {
		s += fmt.Sprintf(" and %d missing", missing)
	}
	return s
}
