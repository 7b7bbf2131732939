package findings

import (
	"cmp"
	"slices"
)

// Labels counts what happens, by the label of a decision, for up to 32 of them. The zero value is empty.
type Labels []labelled

type labelled struct {
	label int32
	n     int64
}

const maxLabels = 32

// Add counts one.
func (l *Labels) Add(label int32) {
	i := slices.IndexFunc(*l, func(x labelled) bool { return x.label == label })
	switch {
	case i >= 0:
		(*l)[i].n++
	case len(*l) < maxLabels:
		*l = append(*l, labelled{label, 1})
	}
}

// MeasuredLabels appends the three most frequent labels as evidence.
func (x *Finding) MeasuredLabels(what string, l Labels, f *Facts) {
	slices.SortStableFunc(l, func(x, y labelled) int { return cmp.Compare(y.n, x.n) })
	for _, y := range l[:min(3, len(l))] {
		if word := f.Word(y.label); word != "" {
			x.Measured(what+word, Count(y.n))
		}
	}
}
